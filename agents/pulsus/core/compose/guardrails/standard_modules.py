"""Standard modules that change files: what of them reads only. Held where they may be imported."""

from __future__ import annotations

from collections.abc import Mapping

OPENERS: Mapping[str, int] = {
    "open": 1,
    **{f"{m}.open": 1 for m in ("io", "codecs", "gzip", "bz2", "lzma", "tarfile", "tokenize")},
    "io.FileIO": 1,
    "gzip.GzipFile": 1,
    "bz2.BZ2File": 1,
    "lzma.LZMAFile": 1,
    "zipfile.ZipFile": 1,
    "zipfile.PyZipFile": 1,
    "tarfile.TarFile": 1,
    "wave.open": 1,
}
"""What opens a file → where its mode stands among its arguments."""

_STAT = (
    *("path", "sep", "altsep", "linesep", "pathsep", "curdir", "pardir", "extsep", "devnull"),
    *("name", "environ", "getenv", "getcwd", "listdir", "scandir", "walk", "fwalk", "stat"),
    *("lstat", "fstat", "statvfs", "fsencode", "fsdecode", "fspath", "access", "readlink"),
    *("cpu_count", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getgroups"),
    *("getlogin", "getloadavg", "times", "uname", "sysconf", "confstr", "PathLike", "DirEntry"),
    *("stat_result", "statvfs_result", "sched_getaffinity", "getpgid", "getsid", "isatty"),
    *("get_terminal_size", "strerror", "error", "major", "minor", "getpriority", "ctermid"),
    *("sysconf_names", "get_exec_path", "supports_follow_symlinks", "urandom", "environb"),
)
LIMITED: Mapping[str, frozenset[str]] = {
    "os": frozenset(_STAT),
    "shutil": frozenset(("which", "disk_usage", "get_terminal_size", "Error", "SameFileError")),
    "io": frozenset(
        (
            *("StringIO", "BytesIO", "TextIOBase", "IOBase", "RawIOBase", "BufferedIOBase"),
            *("TextIOWrapper", "BufferedReader", "UnsupportedOperation", "BlockingIOError"),
        )
    ),
    "logging": frozenset(
        ("getLogger", "Logger", "LoggerAdapter", "getLevelName", "NullHandler", "LogRecord")
    ),
    "codecs": frozenset(
        ("decode", "encode", "lookup", "getdecoder", "getencoder", "getincrementaldecoder")
    ),
    "zipfile": frozenset(("ZipFile", "ZipInfo", "is_zipfile", "BadZipFile", "LargeZipFile")),
    "tarfile": frozenset(
        ("TarInfo", "is_tarfile", "TarError", "ReadError", "CompressionError", "HeaderError")
    ),
    "gzip": frozenset(("compress", "decompress", "BadGzipFile")),
    "bz2": frozenset(("compress", "decompress", "BZ2Compressor", "BZ2Decompressor")),
    "lzma": frozenset(
        ("compress", "decompress", "LZMACompressor", "LZMADecompressor", "LZMAError")
    ),
    "sqlite3": frozenset(("Row", "Error", "OperationalError", "DatabaseError", "sqlite_version")),
    "pickle": frozenset(("dumps", "HIGHEST_PROTOCOL", "PickleError", "PicklingError")),
    "tokenize": frozenset(("generate_tokens", "tokenize", "TokenInfo", "TokenError")),
    **{
        module: frozenset()
        for module in (
            *("fileinput", "tempfile", "shelve", "dbm", "mmap", "logging.handlers", "posix", "nt"),
            *(
                "marshal",
                "ctypes",
                "pty",
                "fcntl",
                "wave",
                "mailbox",
                "zipapp",
                "compileall",
                "json.tool",
            ),
            *("py_compile", "venv", "ensurepip", "webbrowser", "cProfile", "trace", "dbm.dumb"),
        )
    },
}
"""Modules with names that write → those that do not; constants in capitals never do."""


def allowed_in(module: str, name: str) -> bool:
    """Whether a limited module's name only reads."""
    return name in LIMITED[module] or name.isupper()
