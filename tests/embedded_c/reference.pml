// After appendix B of the multi-core paper of Spin (Holzmann and Bosnacki, 2007): so many states, each with
// so many successors, and so much work for each step.
#define WAYS 8
#define BYTES 500
#define WORK 9
#ifndef STATES
#define STATES 500000
#endif

int count;
byte filler[BYTES];

active [WAYS] proctype step() {
end:
  do
  :: d_step {
       count < STATES ->
       c_code {
         int i;
         for (i = 0; i < (1 << WORK); i++)
           now.filler[i % BYTES] += i % 256;
         memset(now.filler, 0, BYTES);
       };
       count++
     }
  od
}
