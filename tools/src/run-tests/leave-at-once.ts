// Loaded into every test process. When nothing is left to do, Node waits for requests of connections that were closed long
// since, and after tests that cut them it sometimes waits for ever, with the core busy. Leaving by `exit` skips that wait. A
// server or timer that a test left open still keeps the process from coming here, and is told as such.
process.once('beforeExit', () => {
  // After whoever else has something to say at the end.
  process.on('exit', () => process.exit());
});
