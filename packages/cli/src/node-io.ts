import type { Io, Sink } from "./io.ts"

/** The process's own streams. The first interrupt asks the command to stop, the second ends the process. */
export function processIo(): Io {
  const stop = new AbortController()
  process.once("SIGINT", () => stop.abort())
  return {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    // Touching it at all would keep the process waiting for input.
    get stdin() {
      return process.stdin
    },
    cwd: process.cwd(),
    env: process.env,
    now: Date.now,
    signal: stop.signal,
  }
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  // The write's callback gets the error; without a listener it would end the process as well.
  stream.on("error", () => undefined)
  return {
    isTerminal: stream.isTTY,
    get columns() {
      return stream.columns
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error == null ? resolve() : reject(error)))
      }),
  }
}
