/** Parses the command line: the command's name, its options and its arguments. Every mistake in it is a {@link UsageError}. */
import { parseArgs } from "node:util"
import type { Command, OptionSpecs } from "../command.ts"
import { UsageError } from "../errors.ts"
import { suggest } from "../suggest.ts"

/** The options of every command. */
export const COMMON_OPTIONS: OptionSpecs = {
  store: {
    type: "string",
    value: "URL",
    help: "store of the sessions (default: SESSIONS_STORE, else file:./.sessions)",
  },
  json: { type: "boolean", help: "print JSON" },
  help: { type: "boolean", help: "print this help" },
}

export interface SplitCommandLine {
  /** Undefined if the line names no command. */
  readonly name: string | undefined
  /** All other words, in order. */
  readonly rest: readonly string[]
}

/** The command is the first word that is neither an option nor an option's value; common options may precede it. */
export function splitCommand(argv: readonly string[]): SplitCommandLine {
  const { tokens } = parseArgs({ args: [...argv], options: parserOptions(COMMON_OPTIONS), strict: false, tokens: true })
  const token = tokens.find(({ kind }) => kind === "positional")
  if (token === undefined) return { name: undefined, rest: argv }
  return { name: argv[token.index], rest: [...argv.slice(0, token.index), ...argv.slice(token.index + 1)] }
}

export interface ParsedArguments {
  readonly values: Readonly<Record<string, string | boolean>>
  readonly args: readonly string[]
}

export function parseCommand(command: Command, rest: readonly string[]): ParsedArguments {
  const options = { ...command.options, ...COMMON_OPTIONS }
  const { values, positionals } = parseOptions(command, options, rest)
  if (values["help"] !== true) checkCount(command, positionals)
  return { values, args: positionals }
}

function parseOptions(
  command: Command,
  options: OptionSpecs,
  rest: readonly string[],
): { values: ParsedArguments["values"]; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      options: parserOptions(options),
      allowPositionals: true,
    })
    checkEmpty(command, options, values as ParsedArguments["values"], positionals)
    return { values: values as ParsedArguments["values"], positionals }
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown }
    if (typeof code !== "string" || !code.startsWith("ERR_PARSE_ARGS")) throw error
    throw new UsageError(optionError(command, options, code, message))
  }
}

/** A variable of a shell that is not set gives an empty text, which as a path would be the current folder. */
function checkEmpty(
  { name, args }: Command,
  options: OptionSpecs,
  values: ParsedArguments["values"],
  given: readonly string[],
): void {
  const option = Object.keys(values).find((key) => values[key] === "")
  if (option !== undefined) throw new UsageError(needsValue(name, option, options[option]?.value))
  const at = given.indexOf("")
  const arg = args[Math.min(at, args.length - 1)]?.replace(/\W+$/, "")
  if (at >= 0 && arg !== undefined && !OWN_ERROR.has(arg))
    throw new UsageError(`${arg} of ${name} is empty; see "sessions ${name} --help".`)
}

/** Arguments of which the command itself says what an empty text is. */
const OWN_ERROR: ReadonlySet<string> = new Set(["ID", "TITLE", "LABEL", "WORDS"])

function needsValue(command: string, option: string, value: string | undefined): string {
  return `--${option} needs a value: --${option} ${value ?? "…"}; see "sessions ${command} --help".`
}

/** Replaces the parser's message, which gives advice about `--` that fits no command here. */
function optionError({ name, args }: Command, options: OptionSpecs, code: string, message: string): string {
  // Bun leaves the dash of a letter out.
  const given = /'(-[^'\s]*|[^'\s](?='))/.exec(message)?.[1]?.replace(/^(?!-)/, "-") ?? "an option"
  const help = `see "sessions ${name} --help".`
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const near = suggest(given.replace(/^-+/, ""), Object.keys(options))
    const hint = near === undefined ? "" : ` did you mean --${near}? Or`
    // What no option looks like may be meant for an id, which may begin with a dash.
    const isId = near === undefined && args.some((arg) => /^(?:ID|SESSION)/.test(arg))
    return `unknown option ${given} of ${name};${hint} ${help}${isId ? " An id that begins with - goes behind --." : ""}`
  }
  const option = /--([a-z-]+)/.exec(message)?.[1] ?? ""
  const { type, value } = options[option] ?? { type: "string" }
  return type === "boolean" ? `--${option} takes no value; ${help}` : needsValue(name, option, value)
}

function checkCount(command: Command, given: readonly string[]): void {
  const needed = command.args.filter((arg) => !arg.endsWith("?"))
  const help = `see "sessions ${command.name} --help".`
  if (given.length < needed.length) {
    throw new UsageError(
      `${command.name} needs ${needed.slice(given.length).join(" and ").replace("...", "")}; ${help}`,
    )
  }
  if (given.length > command.args.length && !/\.\.\.\??$/.test(command.args.at(-1) ?? "")) {
    throw new UsageError(
      `unexpected argument ${JSON.stringify(given[command.args.length])} of ${command.name}; ${help}`,
    )
  }
}

function parserOptions(options: OptionSpecs): Record<string, { type: "string" | "boolean"; short?: string }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [name, name === "help" ? { type, short: "h" } : { type }]),
  )
}
