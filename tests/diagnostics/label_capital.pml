/* The waiting server was meant to be a valid end. */
chan requests = [0] of { byte };

active proctype server() {
End:
    do
    :: requests?_
    od
}
active proctype client() { requests!1 }
