/* Answers that nobody takes. */
chan ask = [1] of { byte };
chan answer = [1] of { byte };

active proctype client() { do :: ask!1 od }
active proctype server() { byte q; do :: ask?q; answer!q od }
