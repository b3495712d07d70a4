# protobuf-c: the files that ljperf export writes for pprof.
PROTOBUF_C_PKG = libprotobuf-c
PROTOBUF_C_LEAST = 1.3.3
PROTOBUF_C_DEBIAN = libprotobuf-c-dev
PROTOBUF_C_ARCH = protobuf-c
PROTOBUF_C_ALPINE = protobuf-c-dev
