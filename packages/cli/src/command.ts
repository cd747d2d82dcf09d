/** What a command is: a row of the table in `commands.ts`, with everything that its help says. */
import type { Sessions } from "@sessions/core"
import type { CallOptions, SessionStorage } from "@sessions/core/storage"
import type { Io } from "./io.ts"
import type { Line, View } from "./output/lines.ts"
import type { Progress } from "./output/progress.ts"

export interface OptionSpec {
  readonly type: "string" | "boolean"
  /** What help calls the value of a `string` option. */
  readonly value?: string
  readonly help: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export type Values<O extends OptionSpecs> = {
  readonly [K in keyof O]?: ValueOf<O[K]["type"]>
}

type ValueOf<T> = T extends "boolean" ? boolean : string

/** What a command gives back; printed as text, or with `--json` as JSON. */
export interface Outcome {
  /** The shape that the package's README documents. */
  readonly json: unknown
  readonly text: (view: View) => Iterable<Line>
  /** Default 0. */
  readonly exit?: number
}

export interface Invocation<O extends OptionSpecs = OptionSpecs> {
  readonly sessions: Sessions
  readonly values: Values<O>
  /** As many as the command asks for; what is optional may be missing. */
  readonly args: readonly string[]
  readonly json: boolean
  readonly io: Io
  /** For every call that may take long: ends with the command. */
  readonly call: CallOptions
  /** Says how far long work has come. */
  readonly progress: Progress
  /** The whole id of what a person wrote: an id, a prefix that only one session has, or `@last`. */
  readonly session: (ref: string) => Promise<string>
  /** A store other than the one that `--store` names. */
  readonly openStore: (url: string) => SessionStorage
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  readonly name: string
  /** One line, for the overview. */
  readonly summary: string
  /** Names of the arguments; one that ends in `?` may be missing. */
  readonly args: readonly string[]
  readonly options: O
  /** Further lines of the help. */
  readonly notes?: readonly string[]
  /** Calls as a person would type them, without `sessions `. */
  readonly examples: readonly string[]
  /** Undefined: the command has written its output itself. */
  readonly run: (invocation: Invocation<O>) => Promise<Outcome | undefined>
}

/** Ties the type of the values to the options; the table of commands has no need of it. */
export function defineCommand<const O extends OptionSpecs>(command: Command<O>): Command {
  return command as unknown as Command
}
