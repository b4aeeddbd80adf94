// Preloaded into LoadGen: work in its own process that holds the event loop for 20 of every 25 ms.
setInterval(() => {
  const endMs = performance.now() + 20;
  while (performance.now() < endMs);
}, 25).unref();
