//! The driver of NVIDIA's cards, through its library alone: it is looked for when a search asks for a card,
//! so that programs are built, started and tested where there is none. No toolkit is needed at run time: the
//! driver compiles PTX itself.
#![allow(unsafe_code, reason = "a library in C is called; each call says why it may be")]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::device::{Device, DeviceError};

type Status = c_int;
type Pointer = *mut c_void;

/// The status of a driver that has no more memory.
const OUT_OF_MEMORY: Status = 2;
/// Attributes of a device: the number of its multiprocessors, and what it can do.
const MULTIPROCESSORS: c_int = 16;
const MAJOR: c_int = 75;
/// The least that the text asks for (Volta).
const LEAST_MAJOR: c_int = 7;
/// Options of the loader: where the log of errors goes, and how long it may be.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;

macro_rules! functions {
    ($($field:ident = $name:literal ($($ty:ty),*);)*) => {
        /// Functions of the library.
        #[derive(Debug, Clone, Copy)]
        struct Functions {
            $($field: unsafe extern "C" fn($($ty),*) -> Status,)*
        }

        impl Functions {
            fn find(library: Pointer) -> Result<Functions, DeviceError> {
                Ok(Functions {
                    $($field: {
                        let found = symbol(library, $name)?;
                        // SAFETY: the library documents a function of this type under this name.
                        unsafe {
                            std::mem::transmute::<Pointer, unsafe extern "C" fn($($ty),*) -> Status>(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = "cuInit" (c_uint);
    error_name = "cuGetErrorName" (Status, *mut *const c_char);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    retain = "cuDevicePrimaryCtxRetain" (*mut Pointer, c_int);
    release = "cuDevicePrimaryCtxRelease_v2" (c_int);
    set_current = "cuCtxSetCurrent" (Pointer);
    memory = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    load = "cuModuleLoadDataEx" (*mut Pointer, *const c_void, c_uint, *mut c_int, *mut Pointer);
    unload = "cuModuleUnload" (Pointer);
    function = "cuModuleGetFunction" (*mut Pointer, Pointer, *const c_char);
    allocate = "cuMemAlloc_v2" (*mut u64, usize);
    free = "cuMemFree_v2" (u64);
    fill = "cuMemsetD8_v2" (u64, u8, usize);
    to_device = "cuMemcpyHtoD_v2" (u64, *const c_void, usize);
    to_host = "cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    launch = "cuLaunchKernel" (Pointer, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Pointer,
        *mut Pointer, *mut Pointer);
    synchronize = "cuCtxSynchronize" ();
}

/// The names under which the library is looked for.
#[cfg(unix)]
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

#[cfg(unix)]
fn open() -> Option<Pointer> {
    NAMES.iter().find_map(|name| {
        let name = CString::new(*name).ok()?;
        // SAFETY: the name ends with a 0; what the library does when it is loaded is what programs that use
        // the card accept.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        (!library.is_null()).then_some(library)
    })
}

#[cfg(not(unix))]
fn open() -> Option<Pointer> {
    None
}

#[cfg(unix)]
fn symbol(library: Pointer, name: &str) -> Result<Pointer, DeviceError> {
    let too_old = || DeviceError::Missing(format!("the driver of the GPU is too old: it has no {name}"));
    let name = CString::new(name).map_err(|_| too_old())?;
    // SAFETY: the library is open, and never closed; the name ends with a 0.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() { Err(too_old()) } else { Ok(found) }
}

#[cfg(not(unix))]
fn symbol(_library: Pointer, name: &str) -> Result<Pointer, DeviceError> {
    Err(DeviceError::Missing(format!("there is no {name} on this system")))
}

/// A card.
#[derive(Debug)]
pub struct Card {
    functions: Functions,
    device: c_int,
    name: String,
    units: u32,
    module: Pointer,
    kernel: Pointer,
    allocated: Vec<u64>,
}

impl Card {
    /// The first card of this machine.
    pub fn first() -> Result<Card, DeviceError> {
        let missing = |what: &str| DeviceError::Missing(what.to_string());
        let library = open().ok_or_else(|| missing("there is no driver of an NVIDIA GPU (libcuda.so.1)"))?;
        let functions = Functions::find(library)?;
        let (mut count, mut device, mut context) = (0, 0, null_mut());
        // SAFETY: the pointers are to variables that live as long as the calls, as all of this file's are.
        let status = unsafe { (functions.init)(0) };
        if status != 0 {
            let why = name_of(&functions, status);
            return Err(DeviceError::Missing(format!("the driver of the GPU does not start ({why})")));
        }
        // SAFETY: as above.
        check(&functions, "cuDeviceGetCount", unsafe { (functions.device_count)(&raw mut count) })?;
        if count == 0 {
            return Err(missing("there is a driver, but no GPU"));
        }
        // SAFETY: as above; device 0 exists.
        check(&functions, "cuDeviceGet", unsafe { (functions.device)(&raw mut device, 0) })?;
        let attribute = |which: c_int| {
            let mut value = 0;
            // SAFETY: as above.
            let status = unsafe { (functions.attribute)(&raw mut value, which, device) };
            check(&functions, "cuDeviceGetAttribute", status).map(|()| value)
        };
        let mut name = [0u8; 128];
        // SAFETY: the buffer is as long as is said.
        let status = unsafe { (functions.device_name)(name.as_mut_ptr().cast(), 127, device) };
        check(&functions, "cuDeviceGetName", status)?;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(0);
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        if attribute(MAJOR)? < LEAST_MAJOR {
            return Err(DeviceError::Missing(format!("{name} is too old: compute capability 7.0 is needed")));
        }
        let units = attribute(MULTIPROCESSORS)? as u32;
        // SAFETY: as above.
        let status = unsafe { (functions.retain)(&raw mut context, device) };
        check(&functions, "cuDevicePrimaryCtxRetain", status)?;
        // SAFETY: the context was just made.
        check(&functions, "cuCtxSetCurrent", unsafe { (functions.set_current)(context) })?;
        Ok(Card { functions, device, name, units, module: null_mut(), kernel: null_mut(), allocated: vec![] })
    }

    fn unload(&mut self) {
        if !self.module.is_null() {
            // SAFETY: the module was loaded, and nothing of it runs: every launch is waited for.
            unsafe { (self.functions.unload)(self.module) };
            (self.module, self.kernel) = (null_mut(), null_mut());
        }
    }
}

fn name_of(functions: &Functions, status: Status) -> String {
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: the pointer is to a variable; where the driver knows no name it stays as it is.
    unsafe { (functions.error_name)(status, &raw mut name) };
    if name.is_null() {
        return format!("error {status}");
    }
    // SAFETY: the driver's names are texts that end with a 0 and are never changed.
    unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

fn check(functions: &Functions, what: &str, status: Status) -> Result<(), DeviceError> {
    match status {
        0 => Ok(()),
        OUT_OF_MEMORY => Err(DeviceError::Memory),
        _ => Err(DeviceError::Broken(format!("{what}: {}", name_of(functions, status)))),
    }
}

impl Device for Card {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn free(&self) -> Result<u64, DeviceError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to variables.
        let status = unsafe { (self.functions.memory)(&raw mut free, &raw mut total) };
        check(&self.functions, "cuMemGetInfo", status).map(|()| free as u64)
    }

    fn units(&self) -> u32 {
        self.units
    }

    fn load(&mut self, text: &str) -> Result<(), DeviceError> {
        self.unload();
        let broken = || DeviceError::Broken("a text with a 0 in it".to_string());
        let text = CString::new(text).map_err(|_| broken())?;
        let mut log = vec![0u8; 8192];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        // The second value is a number in the place of a pointer, as the driver asks for.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len() - 1)];
        let mut module = null_mut();
        // SAFETY: the text ends with a 0, there are as many options as values, and the log is as long as is
        // said.
        let status = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            (self.functions.load)(&raw mut module, text.as_ptr().cast(), 2, options, values)
        };
        if status != 0 {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(0);
            let log = String::from_utf8_lossy(&log[..end]).trim().to_string();
            let name = name_of(&self.functions, status);
            return Err(DeviceError::Broken(format!("the driver does not take the code ({name}): {log}")));
        }
        self.module = module;
        let mut kernel = null_mut();
        // SAFETY: the module was just loaded; the name ends with a 0.
        let status = unsafe { (self.functions.function)(&raw mut kernel, module, c"level".as_ptr()) };
        check(&self.functions, "cuModuleGetFunction", status)?;
        self.kernel = kernel;
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let mut at = 0;
        // SAFETY: the pointer is to a variable.
        let status = unsafe { (self.functions.allocate)(&raw mut at, bytes as usize) };
        check(&self.functions, "cuMemAlloc", status)?;
        self.allocated.push(at);
        Ok(at)
    }

    fn release(&mut self) {
        for at in self.allocated.drain(..) {
            // SAFETY: it was allocated, and is given back once; no kernel runs.
            unsafe { (self.functions.free)(at) };
        }
    }

    fn zero(&mut self, at: u64, bytes: u64) -> Result<(), DeviceError> {
        // SAFETY: addresses are of the device, which checks them.
        check(&self.functions, "cuMemsetD8", unsafe { (self.functions.fill)(at, 0, bytes as usize) })
    }

    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), DeviceError> {
        let bytes = std::mem::size_of_val(words);
        // SAFETY: so many bytes are in the slice.
        let status = unsafe { (self.functions.to_device)(at, words.as_ptr().cast(), bytes) };
        check(&self.functions, "cuMemcpyHtoD", status)
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the slice has room for so many bytes.
        let status = unsafe { (self.functions.to_host)(bytes.as_mut_ptr().cast(), at, bytes.len()) };
        check(&self.functions, "cuMemcpyDtoH", status)
    }

    fn launch(&mut self, blocks: u32, parameters: &[u64]) -> Result<(), DeviceError> {
        debug_assert_eq!(parameters.len(), crate::level::PARAMETERS.len());
        let mut values = parameters.to_vec();
        let mut pointers: Vec<Pointer> =
            values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: the kernel has as many parameters of 64 bits as there are pointers, which live until the call
        // has copied them.
        let status = unsafe {
            let (one, none) = (crate::level::BLOCK, null_mut());
            let parameters = pointers.as_mut_ptr();
            (self.functions.launch)(self.kernel, blocks, 1, 1, one, 1, 1, 0, none, parameters, null_mut())
        };
        check(&self.functions, "cuLaunchKernel", status)?;
        // SAFETY: there is a current context.
        check(&self.functions, "cuCtxSynchronize", unsafe { (self.functions.synchronize)() })
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        self.release();
        self.unload();
        // SAFETY: the context was retained once, and nothing of it is used any more.
        unsafe { (self.functions.release)(self.device) };
    }
}
