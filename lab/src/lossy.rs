//! A file layer for SQLite that loses at a power cut what was not synced.
//!
//! It stands in front of the system's own layer, which still gives locks and shared memory; contents are
//! kept by [`Disk`]. A host that answers before its commit is synced loses what it answered, and the test
//! over this layer sees it.
//!
//! SQLite is C and calls this through pointers, so this is the one file with `unsafe` in it. What makes it
//! sound: a registered layer and its disk are never freed; SQLite gives each file `szOsFile` zeroed bytes
//! of its own, in which a [`Handle`] stands first and the system's file behind it; and it calls no method
//! of a file after `xClose`, nor one whose `xOpen` failed.
#![allow(unsafe_code)]

mod disk;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use rusqlite::ffi;

use chorus_store::db::SyncLog;
use chorus_store::sqlite::Vfs;
pub use disk::Disk;
use disk::Gone;

/// A layer that SQLite knows.
#[derive(Debug)]
pub struct Lossy {
    name: String,
    pub disk: &'static Disk,
}

impl Vfs for Lossy {
    fn name(&self) -> &str {
        &self.name
    }

    fn sync_of(&self, file: PathBuf) -> SyncLog {
        let (disk, generation) = (self.disk, self.disk.generation());
        Box::new(move || {
            disk.sync(generation, &file).map_err(|Gone| io::Error::other("the power is off"))
        })
    }
}

/// What the layer keeps beside its disk: the system's own layer.
struct Layer {
    disk: Disk,
    system: *mut ffi::sqlite3_vfs,
}

/// A file as SQLite holds it.
#[repr(C)]
struct Handle {
    base: ffi::sqlite3_file,
    layer: *const Layer,
    /// None for a temporary file, which nobody misses.
    path: Option<Box<PathBuf>>,
    generation: u64,
    system: *mut ffi::sqlite3_file,
}

/// Makes a disk known to SQLite under `name`. It stays for the life of the process.
pub fn register(name: &str, seed: u64) -> io::Result<Arc<Lossy>> {
    let known = name.to_owned();
    let name = CString::new(name).map_err(|_| io::Error::other("a name has no zero byte"))?;
    // SAFETY: SQLite's own layer is static; the copy and all it points to are leaked.
    unsafe {
        ffi::sqlite3_initialize();
        let system = ffi::sqlite3_vfs_find(ptr::null());
        if system.is_null() {
            return Err(io::Error::other("SQLite has no file layer of its own"));
        }
        let layer = Box::leak(Box::new(Layer { disk: Disk::new(seed), system }));
        let mut vfs = *system;
        vfs.iVersion = vfs.iVersion.min(2);
        vfs.szOsFile = (*system).szOsFile + behind();
        vfs.pNext = ptr::null_mut();
        vfs.zName = name.into_raw();
        vfs.pAppData = ptr::from_mut::<Layer>(layer).cast();
        vfs.xOpen = Some(open);
        vfs.xDelete = Some(delete);
        vfs.xAccess = Some(access);
        if ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0) != ffi::SQLITE_OK {
            return Err(io::Error::other("SQLite did not take the file layer"));
        }
        Ok(Arc::new(Lossy { name: known, disk: &layer.disk }))
    }
}

/// Where the system's file stands behind a handle: past it, aligned for anything.
const fn behind() -> c_int {
    (size_of::<Handle>().div_ceil(16) * 16) as c_int
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

unsafe fn layer<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a Layer {
    unsafe { &*(*vfs).pAppData.cast::<Layer>() }
}

unsafe fn named(name: *const c_char) -> PathBuf {
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        let layer = layer(vfs);
        (*file).pMethods = ptr::null();
        let system = file.cast::<u8>().add(behind() as usize).cast::<ffi::sqlite3_file>();
        let path = (!name.is_null()).then(|| named(name));
        if path.is_some() && !layer.disk.is_on() {
            return ffi::SQLITE_CANTOPEN;
        }
        let Some(open) = (*layer.system).xOpen else { return ffi::SQLITE_CANTOPEN };
        let opened = open(layer.system, name, system, flags, out);
        if opened != ffi::SQLITE_OK {
            return opened;
        }
        if path.as_ref().is_some_and(|path| layer.disk.open(path).is_err()) {
            if let Some(close) = (*(*system).pMethods).xClose {
                close(system);
            }
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::write(
            file.cast::<Handle>(),
            Handle {
                base: ffi::sqlite3_file { pMethods: &raw const METHODS },
                layer,
                path: path.map(Box::new),
                generation: layer.disk.generation(),
                system,
            },
        );
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_folder: c_int,
) -> c_int {
    unsafe {
        let layer = layer(vfs);
        if layer.disk.delete(&named(name)).is_err() {
            return ffi::SQLITE_IOERR_DELETE;
        }
        match (*layer.system).xDelete {
            Some(delete) => delete(layer.system, name, sync_folder),
            None => ffi::SQLITE_IOERR_DELETE,
        }
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        let layer = layer(vfs);
        match (layer.disk.has_content(&named(name)), (*layer.system).xAccess) {
            (Err(Gone), _) => ffi::SQLITE_IOERR_ACCESS,
            // The plates may not have it yet, and programs see it.
            (Ok(Some(there)), _) if flags == ffi::SQLITE_ACCESS_EXISTS => {
                *out = there.into();
                ffi::SQLITE_OK
            }
            (_, Some(access)) => access(layer.system, name, flags, out),
            (_, None) => ffi::SQLITE_IOERR_ACCESS,
        }
    }
}

unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> (&'a Handle, &'a Disk) {
    unsafe {
        let handle = &*file.cast::<Handle>();
        (handle, &(*handle.layer).disk)
    }
}

/// Hands a call on to the system's own file.
macro_rules! system {
    ($file:expr, $method:ident ( $($arg:expr),* ) else $missing:expr) => {{
        let system = handle($file).0.system;
        match (*(*system).pMethods).$method {
            Some(method) => method(system $(, $arg)*),
            None => $missing,
        }
    }};
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    unsafe {
        let closed = system!(file, xClose() else ffi::SQLITE_OK);
        ptr::drop_in_place(file.cast::<Handle>());
        (*file).pMethods = ptr::null();
        closed
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    len: c_int,
    at: i64,
) -> c_int {
    unsafe {
        let (handle, disk) = handle(file);
        let Some(path) = &handle.path else {
            return system!(file, xRead(into, len, at) else ffi::SQLITE_IOERR_READ);
        };
        let into = std::slice::from_raw_parts_mut(into.cast::<u8>(), len as usize);
        match disk.read(handle.generation, path, at as u64, into) {
            Ok(found) if found == into.len() => ffi::SQLITE_OK,
            Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
            Err(Gone) => ffi::SQLITE_IOERR_READ,
        }
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    len: c_int,
    at: i64,
) -> c_int {
    unsafe {
        let (handle, disk) = handle(file);
        let Some(path) = &handle.path else {
            return system!(file, xWrite(from, len, at) else ffi::SQLITE_IOERR_WRITE);
        };
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), len as usize);
        code(disk.write(handle.generation, path, at as u64, bytes), ffi::SQLITE_IOERR_WRITE)
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    unsafe {
        let (handle, disk) = handle(file);
        let Some(path) = &handle.path else {
            return system!(file, xTruncate(size) else ffi::SQLITE_IOERR_TRUNCATE);
        };
        code(disk.truncate(handle.generation, path, size as u64), ffi::SQLITE_IOERR_TRUNCATE)
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    unsafe {
        let (handle, disk) = handle(file);
        let Some(path) = &handle.path else {
            return system!(file, xSync(flags) else ffi::SQLITE_IOERR_FSYNC);
        };
        code(disk.sync(handle.generation, path), ffi::SQLITE_IOERR_FSYNC)
    }
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    unsafe {
        let (handle, disk) = handle(file);
        let Some(path) = &handle.path else {
            return system!(file, xFileSize(out) else ffi::SQLITE_IOERR_FSTAT);
        };
        let size = disk.size(handle.generation, path);
        code(size.map(|size| *out = size as i64), ffi::SQLITE_IOERR_FSTAT)
    }
}

fn code(done: Result<(), Gone>, error: c_int) -> c_int {
    match done {
        Ok(()) => ffi::SQLITE_OK,
        Err(Gone) => error,
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    unsafe { system!(file, xLock(level) else ffi::SQLITE_OK) }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    unsafe { system!(file, xUnlock(level) else ffi::SQLITE_OK) }
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    unsafe { system!(file, xCheckReservedLock(out) else ffi::SQLITE_OK) }
}

/// Hints about size and mapping would reach the system's file behind our back.
unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    unsafe { system!(file, xSectorSize() else 4096) }
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    unsafe { system!(file, xDeviceCharacteristics() else 0) }
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    unsafe { system!(file, xShmMap(page, size, extend, out) else ffi::SQLITE_IOERR_SHMMAP) }
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    unsafe { system!(file, xShmLock(offset, n, flags) else ffi::SQLITE_IOERR_SHMLOCK) }
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    unsafe { system!(file, xShmBarrier() else ()) }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    unsafe { system!(file, xShmUnmap(delete) else ffi::SQLITE_OK) }
}
