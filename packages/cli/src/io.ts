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
