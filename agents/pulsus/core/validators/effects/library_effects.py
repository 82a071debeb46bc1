"""Functions of Python's library that change files, reach hosts or start programs. Data.

Each stands as `module.name`, with the last part of its module's name.
"""

from __future__ import annotations

from collections.abc import Mapping

_OS_CHANGES = (
    *("remove", "unlink", "mkdir", "makedirs", "rmdir", "removedirs", "rename", "renames"),
    *("replace", "truncate", "ftruncate", "chmod", "fchmod", "lchmod", "chown", "fchown"),
    *("lchown", "utime", "mkfifo", "mknod", "symlink", "link", "setxattr", "removexattr"),
    *("chflags", "lchflags", "posix_fallocate", "copy_file_range", "pwrite", "pwritev"),
)
_OS_OTHERS = ("killpg", "setpriority", "sched_setscheduler", "sched_setaffinity", "chroot")
_SHUTIL = (
    *("copy", "copy2", "copyfile", "copymode", "copystat", "copytree", "move", "rmtree"),
    *("chown", "make_archive", "unpack_archive"),
)
_HANDLERS = (
    *("FileHandler", "WatchedFileHandler", "BaseRotatingHandler", "RotatingFileHandler"),
    "TimedRotatingFileHandler",
)
CHANGING = frozenset(
    (
        *(f"{module}.{name}" for module in ("os", "posix") for name in (*_OS_CHANGES, *_OS_OTHERS)),
        *(f"shutil.{name}" for name in _SHUTIL),
        *(f"{module}.{name}" for module in ("logging", "handlers") for name in _HANDLERS),
        *("config.dictConfig", "config.fileConfig", "cProfile.run", "cProfile.runctx"),
        *("profile.run", "profile.runctx", "py_compile.compile", "zipapp.create_archive"),
        *("compileall.compile_dir", "compileall.compile_file", "compileall.compile_path"),
        *("venv.create", "venv.EnvBuilder", "ensurepip.bootstrap", "request.urlretrieve"),
        *("readline.write_history_file", "readline.append_history_file"),
        *("socket.sethostname", "time.clock_settime", "time.clock_settime_ns", "resource.prlimit"),
        *("signal.pidfd_send_signal", "termios.tcsetattr", "shelve.open", "mailbox.mbox"),
        *("mailbox.Maildir", "mailbox.MH", "mailbox.Babyl", "mailbox.MMDF", "numpy.save"),
        *("numpy.savez", "numpy.savez_compressed", "numpy.savetxt", "numpy.memmap"),
        *("_posixshmem.shm_unlink", "posixshmem.shm_unlink", "zipfile.PyZipFile"),
        *("wave.Wave_write", "aifc.Aifc_write", "sunau.Au_write", "dumb.open", "dumb.Database"),
        *("shelve.DbfilenameShelf", "TemporaryDirectory.rmtree"),
    )
)
"""Change files or other processes, whatever their arguments are."""

METHODS = frozenset(
    (
        *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "symlink_to"),
        *("hardlink_to", "link_to", "lchmod", "chmod", "dump_stats", "extractall"),
        *("to_csv", "to_pickle", "to_parquet", "to_excel", "to_feather", "to_hdf", "to_sql"),
    )
)
"""Methods that change files, of whatever object: `pathlib`, archives, profiles, data frames."""

EXTRACTING = frozenset(("extractall", "extract"))
"""Methods that change the folder they are given, else the working folder."""

METHODS_OF_ONE = frozenset(("rename", "replace"))
"""Methods that change a file if they are called with one argument (text takes two)."""

METHODS_OF: Mapping[str, frozenset[str]] = {
    "extract": frozenset(("zipfile", "tarfile")),
    "save": frozenset(("cookiejar", "matplotlib", "PIL", "openpyxl")),
    "savefig": frozenset(("matplotlib",)),
    "dump": frozenset(("tracemalloc",)),
    "write_results": frozenset(("trace",)),
    "write": frozenset(("ElementTree", "etree", "lxml")),
    "write_c14n": frozenset(("lxml", "etree")),
    "putwin": frozenset(("curses",)),
}
"""Methods that change files where one of these modules is imported."""

CREATING_WITHOUT_ARGUMENTS = frozenset(("to_csv", "to_parquet"))
"""Methods that give text back if they are called without a file."""

OPENERS: Mapping[str, int] = {
    "open": 1,
    **{f"{module}.open": 1 for module in ("builtins", "io", "codecs", "gzip", "bz2", "lzma")},
    **{f"{module}.open": 1 for module in ("tarfile", "wave", "dbm", "aifc", "sunau", "Path")},
    **{f"{name}.FileIO": 1 for name in ("io",)},
    **{"gzip.GzipFile": 1, "bz2.BZ2File": 1, "lzma.LZMAFile": 1, "zipfile.ZipFile": 1},
    **{"TarFile.open": 1, "tarfile.TarFile": 1, "argparse.FileType": 0},
    **{f"TarFile.{how}open": 1 for how in ("gz", "bz2", "xz", "tar", "zst")},
    **{"pyio.open": 1, "pyio.FileIO": 1, "zstd.open": 1, "zstd.ZstdFile": 1},
    **{f"{module}.open": 1 for module in ("gnu", "ndbm", "sqlite3")},
}
"""What opens a file → where its mode stands among its arguments."""

DATABASES = frozenset(("dbm.open", "gnu.open", "ndbm.open", "sqlite3.open"))
"""Of those, the ones that only the mode `r` opens to read."""

CONNECTING = frozenset(
    (
        *("socket.create_connection", "socket.create_server", "socket.getaddrinfo"),
        *("socket.gethostbyname", "socket.gethostbyname_ex", "socket.gethostbyaddr"),
        *("client.HTTPConnection", "client.HTTPSConnection", "request.urlopen"),
        *("request.urlretrieve", "request.build_opener", "request.OpenerDirector"),
        *("ftplib.FTP", "ftplib.FTP_TLS", "smtplib.SMTP", "smtplib.SMTP_SSL", "smtplib.LMTP"),
        *("imaplib.IMAP4", "imaplib.IMAP4_SSL", "poplib.POP3", "poplib.POP3_SSL"),
        *("nntplib.NNTP", "nntplib.NNTP_SSL", "telnetlib.Telnet", "client.ServerProxy"),
        *("asyncio.open_connection", "asyncio.open_unix_connection", "asyncio.start_server"),
        *("ssl.get_server_certificate", "connection.Client", "connection.Listener"),
        *("managers.BaseManager", "managers.SyncManager", "webbrowser.open", "syslog.syslog"),
        *("handlers.SocketHandler", "handlers.DatagramHandler", "handlers.SysLogHandler"),
        *("handlers.HTTPHandler", "handlers.SMTPHandler", "config.listen"),
        *("socketserver.TCPServer", "socketserver.UDPServer", "socketserver.ThreadingTCPServer"),
        *("server.HTTPServer", "server.ThreadingHTTPServer", "simple_server.make_server"),
        *("simple_server.WSGIServer", "requests.get", "requests.post", "requests.put"),
        *("requests.patch", "requests.delete", "requests.head", "requests.request"),
        *("requests.Session", "httpx.get", "httpx.post", "httpx.put", "httpx.patch"),
        *("httpx.delete", "httpx.head", "httpx.request", "httpx.stream", "httpx.Client"),
        *("httpx.AsyncClient", "aiohttp.ClientSession", "aiohttp.request", "urllib3.PoolManager"),
        *("urllib3.request", "paramiko.SSHClient", "psycopg.connect", "psycopg2.connect"),
        *("pymysql.connect", "redis.Redis", "pymongo.MongoClient", "dbm.connect"),
        *("request.URLopener", "request.FancyURLopener", "request.HTTPHandler"),
        *("request.HTTPSHandler", "request.FTPHandler", "request.CacheFTPHandler"),
        *("server.SimpleXMLRPCServer", "server.DocXMLRPCServer", "server.HTTPSServer"),
        *("socketserver.ThreadingUDPServer", "socketserver.ForkingTCPServer"),
        *("socketserver.UnixStreamServer", "socketserver.UnixDatagramServer"),
        *("asyncio.start_unix_server", "socket.getnameinfo", "asyncore.dispatcher"),
        *("webbrowser.open_new", "webbrowser.open_new_tab", "pydoc.browse", "smtpd.SMTPServer"),
        *("saxutils.prepare_input_source", "syslog.openlog", "urllib3.HTTPConnection"),
        *("socket.send_fds", "urllib3.HTTPConnectionPool", "urllib3.HTTPSConnectionPool"),
    )
)
"""Reach a host, look one up, or listen."""

CONNECTING_METHODS = frozenset(("connect_ex", "sendto", "create_datagram_endpoint", "sock_connect"))
SOCKET_METHODS = frozenset(("connect", "sendmsg", "bind", "listen"))
"""Methods that reach hosts if the module makes sockets."""

CONNECTING_METHODS_OF: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("create_connection", "create_server", "getaddrinfo"), frozenset(("asyncio",))),
    **dict.fromkeys(("create_unix_connection", "create_unix_server"), frozenset(("asyncio",))),
    "set_url": frozenset(("robotparser",)),
}
"""Methods that reach hosts where one of these modules is imported."""

STARTING = frozenset(
    (
        *("os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp", "os.startfile"),
        *(f"os.exec{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"os.spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.Popen"),
        *("subprocess.check_output", "subprocess.getoutput", "subprocess.getstatusoutput"),
        *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "pty.spawn"),
        *("imaplib.IMAP4_stream", "posixsubprocess.fork_exec", "pexpect.spawn", "pexpect.run"),
        *("posix.system", "posix.posix_spawn", "posix.posix_spawnp", "posix.execv", "posix.execve"),
        *("webbrowser.open", "webbrowser.get", "pydoc.pipepager", "pydoc.pager"),
        *("webbrowser.open_new", "webbrowser.open_new_tab", "webbrowser.GenericBrowser"),
        *("webbrowser.BackgroundBrowser", "webbrowser.UnixBrowser", "webbrowser.register"),
        *("pydoc.tempfilepager", "pydoc.getpager", "pydoc.help", "pydoc.doc", "builtins.help"),
        *("util.spawnv_passfds", "multiprocessing.set_executable", "spawn.set_executable"),
        *("spawn.spawn", "forkserver.ensure_running", "resource_tracker.ensure_running"),
        *("subprocess.create_subprocess_exec", "subprocess.create_subprocess_shell"),
        *("popen_spawn_posix.Popen", "posix.spawnv", "posix.spawnve", "pipes.Template"),
        *("mailcap.findmatch", "platform.popen", "commands.getoutput", "invoke.run"),
    )
)
"""Start a program."""

STARTING_METHODS = frozenset(("subprocess_exec", "subprocess_shell"))

WRITING_FLAGS = frozenset(("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"))

ANYTHING = frozenset(
    (
        *("builtins.exec", "builtins.eval", "builtins.__import__", "importlib.import_module"),
        *("ctypes.PyDLL", "ctypes.pythonapi", "ctypes.cdll", "ctypes.CFUNCTYPE"),
        *("runpy.run_path", "runpy.run_module", "marshal.loads", "marshal.load", "pickle.loads"),
        *("pickle.load", "pickle.Unpickler", "code.InteractiveInterpreter", "timeit.timeit"),
        *("machinery.SourceFileLoader", "util.spec_from_file_location", "types.CodeType"),
        *("types.FunctionType", "code.InteractiveConsole", "timeit.Timer", "timeit.repeat"),
        *("timeit.main", "code.interact", "builtins.breakpoint", "sys.breakpointhook"),
        *(f"site.{name}" for name in ("addsitedir", "addpackage", "main", "addsitepackages")),
        *("site.addusersitepackages", "site.execsitecustomize", "site.execusercustomize"),
        *("pkgutil.walk_packages", "pkgutil.resolve_name", "pkgutil.get_loader"),
        *("pkgutil.find_loader", "importlib.reload", "util.module_from_spec"),
        *("machinery.SourcelessFileLoader", "machinery.ExtensionFileLoader", "imp.load_source"),
        *("zipimport.zipimporter", "imp.load_module", "imp.load_dynamic", "imp.reload"),
        *("pydoc.locate", "pydoc.safeimport", "pydoc.importfile", "pydoc.resolve"),
        *("pydoc.render_doc", "metadata.EntryPoint", "mock.patch", "loader.TestLoader"),
        *("unittest.main", "unittest.TestLoader", "unittest.defaultTestLoader"),
        *(f"doctest.{name}" for name in ("testmod", "testfile", "run_docstring_examples")),
        *(f"doctest.{name}" for name in ("DocTestRunner", "DebugRunner", "debug", "debug_src")),
        *(f"doctest.{name}" for name in ("DocTestSuite", "DocFileSuite", "debug_script")),
        *("typing.get_type_hints", "typing.ForwardRef", "typing.evaluate_forward_ref"),
        *("annotationlib.ForwardRef", "annotationlib.call_evaluate_function"),
        *("typing_extensions.get_type_hints", "typing_extensions.evaluate_forward_ref"),
        *("Snapshot.load", "ForkingPickler.loads", "reduction.ForkingPickler", "shelve.Shelf"),
        *("pandas.read_pickle", "joblib.load", "dill.loads", "dill.load", "cloudpickle.loads"),
        *("cloudpickle.load", "torch.load", "shelve.BsdDbShelf", "copyreg.pickle"),
        *(f"pdb.{name}" for name in ("Pdb", "run", "runeval", "runcall", "set_trace")),
        *("bdb.Bdb", "trace.Trace", "tkinter.Tcl", "tkinter.Tk", "tkinter.create"),
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "cffi.FFI"),
        *("inspect.getmembers", "ctypes.memmove", "ctypes.memset", "ctypes.PYFUNCTYPE"),
        *("ctypes.CFuncPtr", "ctypes.dlopen", "ctypes.LibraryLoader", "ctypes.oledll"),
    )
)
"""What such a call does is not in the text, unless its argument is a constant name of a module."""

ANYTHING_METHODS_OF: Mapping[str, frozenset[str]] = {
    "load": frozenset(("metadata", "pkg_resources")),
    **dict.fromkeys(("exec_module", "load_module"), frozenset(("importlib", "pkgutil"))),
    **dict.fromkeys(("run", "runctx"), frozenset(("cProfile", "profile", "trace", "bdb"))),
    **dict.fromkeys(("get_field", "get_value"), frozenset(("string",))),
    **dict.fromkeys(("load_extension", "enable_load_extension"), frozenset(("sqlite3",))),
}
"""Methods that may do anything where one of these modules is imported."""

FUNCTION_SETS = frozenset(
    (
        *("os.supports_dir_fd", "os.supports_fd", "os.supports_follow_symlinks"),
        *("os.supports_effective_ids", "sys.modules", "sys.meta_path", "sys.path_hooks"),
    )
)
"""Collections that hold functions or modules: free to be asked whether they contain one."""

INWARD = frozenset(
    (
        *("__subclasses__", "__globals__", "__builtins__", "__closure__", "__getattribute__"),
        *("__self__", "__loader__", "__reduce__", "__reduce_ex__", "f_globals", "f_builtins"),
        "f_locals",
    )
)
"""Attributes through which every function of Python can be reached."""

INNER = frozenset(("os", "posix", "shutil", "subprocess", "socket", "builtins", "io", "pathlib"))
"""Modules of which a name that is put together may be anything."""

TEMPORARY = frozenset(
    (
        *("tempfile.TemporaryDirectory", "tempfile.TemporaryFile", "tempfile.mkdtemp"),
        *("tempfile.NamedTemporaryFile", "tempfile.SpooledTemporaryFile", "tempfile.mkstemp"),
        *("tempfile.gettempdir", "io.BytesIO", "io.StringIO", "os.pipe", "os.openpty"),
        "pty.openpty",
    )
)
"""Calls whose results are the run's own: temporary files, memory, pipes."""

C_READING = frozenset(
    (
        *("adjtimex", "getauxval", "gnu_get_libc_version", "sysinfo", "statvfs", "statfs", "uname"),
        *("getloadavg", "getxattr", "listxattr", "sched_getcpu", "get_nprocs", "get_nprocs_conf"),
        *("getpid", "gettid", "getrusage", "clock_gettime", "sysconf", "gethostid", "strerror"),
        *("getppid", "getuid", "geteuid", "getgid", "getegid", "time", "difftime", "crc32"),
        *("strlen", "strnlen", "strcmp", "strncmp", "strcasecmp", "memcmp", "strchr", "strstr"),
        *("toupper", "tolower", "isalpha", "isdigit", "isspace", "isalnum", "abs", "labs", "atoi"),
        *("atol", "atof", "strtol", "strtod", "sqrt", "cbrt", "pow", "sin", "cos", "tan", "exp"),
        *("log", "log2", "log10", "floor", "ceil", "fabs", "fmod", "hypot", "adler32"),
    )
)
"""Functions of the C library that read. `adjtimex` is also able to set: the dry run sees that."""
