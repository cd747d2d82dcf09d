/** The streams and the environment that a command uses. `process-io.ts` takes them from the process, tests from strings. */
export interface Io {
  readonly stdout: Sink
  readonly stderr: Sink
  /** Read only by `import -` and by commands that ask. */
  readonly stdin: AsyncIterable<Uint8Array | string>
  /** Absolute path. */
  readonly cwd: string
  /** How the program was started, for commands that texts name; default `sessions`. */
  readonly program?: string
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

/** Runs `write` with a sink that the user reads page by page; false if `command` cannot be run, and nothing was shown. */
export type Page = (command: string, write: (sink: Sink) => Promise<void>) => Promise<boolean>
