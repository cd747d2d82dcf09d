/** The definition of a command: its arguments, options, help text and implementation. `commands/table.ts` lists all of them. */
import type { Sessions } from "@sessions/core"
import type { CallOptions, SessionStorage } from "@sessions/core/storage"
import type { Io } from "./io.ts"
import type { Line, View } from "./output/lines.ts"
import type { Progress } from "./output/progress.ts"

export interface OptionSpec {
  readonly type: "string" | "boolean"
  /** Name of a `string` option's value in the help. */
  readonly value?: string
  /** All values of a `string` option, for the completion in a shell. */
  readonly choices?: readonly string[]
  readonly help: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export type Values<O extends OptionSpecs> = {
  readonly [K in keyof O]?: ValueOf<O[K]["type"]>
}

type ValueOf<T> = T extends "boolean" ? boolean : string

/** The result of a command, printed as text or, with `--json`, as JSON. */
export interface CommandResult {
  /** The shape that the package's README documents. */
  readonly json: unknown
  readonly text: (view: View) => Iterable<Line>
  /** Default 0. */
  readonly exit?: number
}

export interface Invocation<O extends OptionSpecs = OptionSpecs> {
  readonly sessions: Sessions
  /** The address of their store, as `--store` or the default names it. */
  readonly store: string
  readonly values: Values<O>
  /** At most as many as the command declares, unless the last one may be repeated; optional ones may be missing. */
  readonly args: readonly string[]
  readonly json: boolean
  readonly io: Io
  /** For calls that may take long; carries the signal that aborts the command. */
  readonly callOptions: CallOptions
  /** Shows the progress of long work on a terminal. */
  readonly progress: Progress
  /** Resolves an id, a unique prefix of one, or `@last` to a session id. */
  readonly resolveSession: (ref: string) => Promise<string>
  /** Opens another store than the one of `--store`. Default: to write to it, and creates it if it is not there. */
  readonly openTarget: (
    url: string,
    o?: { readonly create: boolean; readonly option?: string },
  ) => Promise<SessionStorage>
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  readonly name: string
  /** One line for the overview. */
  readonly summary: string
  /** Names of the arguments; `...` after the last one means that it may be repeated, `?` at the end that it is optional. */
  readonly args: readonly string[]
  readonly options: O
  /** Further lines of the help. */
  readonly notes?: readonly string[]
  /** Whether the command can create a session with these arguments, and with it the store. Default: never. */
  readonly createsStore?: (args: readonly string[], values: Values<O>) => boolean
  /** The largest session that the command may write, in bytes, by its options. Default: the store's. */
  readonly maxSessionBytes?: (values: Values<O>) => number | undefined
  /** False: the command does not use the store, and runs where none is. Default true. */
  readonly usesStore?: boolean
  /** Example command lines, without the leading `sessions `. */
  readonly examples: readonly string[]
  /** Returns undefined if the command has written its output itself. */
  readonly run: (invocation: Invocation<O>) => Promise<CommandResult | undefined>
}

/** Infers the type of `values` from the options. The table of commands does not need that type. */
export function defineCommand<const O extends OptionSpecs>(command: Command<O>): Command {
  return command as unknown as Command
}
