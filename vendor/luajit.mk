# LuaJIT: the VM that is embedded in ljperf-luajit.
LUAJIT_PKG = luajit
LUAJIT_LEAST = 2.1.0-beta3
LUAJIT_DEBIAN = libluajit-5.1-dev
LUAJIT_ARCH = luajit
LUAJIT_ALPINE = luajit-dev
