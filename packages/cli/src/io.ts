/** The world as a command sees it. `node-io.ts` makes it of a process; tests make it of strings. */
export interface Io {
  readonly stdout: Sink
  readonly stderr: Sink
  /** Read only by a command that is told to. */
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Absolute. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Aborted when a person stops the command. */
  readonly signal?: AbortSignal
}

export interface Sink {
  /** Resolves when the reader has taken the text, so that a slow reader slows the writer down. Rejects with `EPIPE` when it has gone. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  /** Of a terminal, where it says. */
  readonly columns?: number
}

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
