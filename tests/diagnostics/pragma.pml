#pragma pack(1)
init { skip }
