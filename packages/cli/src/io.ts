/** The streams and the environment that a command uses. `processIo` takes them from the process, tests from strings. */
import { type Page, pageBy } from "./output/pager.ts"

export interface Io {
  readonly stdout: Sink
  readonly stderr: Sink
  /** Read only by `import -` and by commands that ask. */
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Absolute path. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Aborts the command. */
  readonly signal?: AbortSignal
  /** Shows long output on a terminal page by page. Without it all output goes to `stdout`. */
  readonly page?: Page
}

export interface Sink {
  /** Resolves when the reader has taken the text, so a slow reader slows the writer. Rejects with `EPIPE` when the reader is gone. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  /** Width of the terminal, if known. */
  readonly columns?: number
  /** Height of the terminal, if known. */
  readonly rows?: number
}

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
    cwd: process.cwd(),
    env: process.env,
    now: Date.now,
    signal: stop.signal,
    page: pageBy(process.env),
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
