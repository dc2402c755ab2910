byte x = 0xff;
byte y = 3z;
