#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| spinor_fuzz::ltl(data));
