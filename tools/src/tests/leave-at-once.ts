// Loaded into every test process. With nothing left to do, Node may wait forever for requests on connections that tests
// cut, with the core busy; `exit` skips that wait. A server or timer that a test left open still keeps the process from
// coming here, and the runner reports it.
process.once('beforeExit', () => {
  // After all other exit listeners.
  process.on('exit', () => process.exit());
});
