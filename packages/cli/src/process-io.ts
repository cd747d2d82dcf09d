/** The streams and the environment of this process, for commands. */
import { resolve } from "node:path"
import type { Io, Sink } from "./io.ts"
import { pageBy } from "./output/pager.ts"
import { programOf } from "./started-as.ts"

/** The streams of this process. The first interrupt aborts the command, the second ends the process. */
export function processIo(): Io {
  const stop = new AbortController()
  process.once("SIGINT", () => stop.abort())
  return {
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
    // A getter, because touching `process.stdin` makes the process wait for input.
    get stdin() {
      return process.stdin
    },
    cwd: currentFolder(),
    program: programOf(process.argv[1] ?? "", process.env),
    env: process.env,
    now: Date.now,
    signal: stop.signal,
    page: pageBy(process.env),
  }
}

/** A folder that was removed meanwhile is still where relative paths begin: what they name is not there. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    return resolve("/", process.env["PWD"] ?? "")
  }
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
  // The callback of `write` gets the error. Without a listener the same error would also end the process.
  stream.on("error", () => undefined)
  return {
    isTerminal: stream.isTTY,
    get columns() {
      return stream.columns
    },
    get rows() {
      return stream.rows
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error == null ? resolve() : reject(error)))
      }),
  }
}
