byte linux;
init { linux = 1 }
