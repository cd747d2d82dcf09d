/** From the words of the command line to the values of one command. Everything that is wrong with them is a {@link UsageError}. */
import { parseArgs } from "node:util"
import type { Command, OptionSpecs } from "../command.ts"
import { UsageError } from "../errors.ts"
import { suggest } from "./suggest.ts"

/** Options that every command has. */
export const COMMON_OPTIONS: OptionSpecs = {
  store: { type: "string", value: "URL", help: "where the sessions are (default file:./.sessions)" },
  json: { type: "boolean", help: "print JSON" },
  help: { type: "boolean", help: "print this help" },
}

export interface Split {
  /** Undefined: the line names no command. */
  readonly name: string | undefined
  /** Everything else, in order. */
  readonly rest: readonly string[]
}

/** The command is the first word that is neither an option nor an option's value: common options may come before it. */
export function splitCommand(argv: readonly string[]): Split {
  const { tokens } = parseArgs({ args: [...argv], options: parserOptions(COMMON_OPTIONS), strict: false, tokens: true })
  const token = tokens.find(({ kind }) => kind === "positional")
  if (token === undefined) return { name: undefined, rest: argv }
  return { name: argv[token.index], rest: [...argv.slice(0, token.index), ...argv.slice(token.index + 1)] }
}

export interface Parsed {
  readonly values: Readonly<Record<string, string | boolean>>
  readonly args: readonly string[]
}

export function parseCommand(command: Command, rest: readonly string[]): Parsed {
  const options = { ...command.options, ...COMMON_OPTIONS }
  const { values, positionals } = parseOptions(command, options, rest)
  if (values["help"] !== true) checkCount(command, positionals)
  return { values, args: positionals }
}

function parseOptions(
  command: Command,
  options: OptionSpecs,
  rest: readonly string[],
): { values: Parsed["values"]; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...rest],
      options: parserOptions(options),
      allowPositionals: true,
    })
    return { values: values as Parsed["values"], positionals }
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown }
    if (typeof code !== "string" || !code.startsWith("ERR_PARSE_ARGS")) throw error
    throw new UsageError(optionProblem(command, options, code, message))
  }
}

/** The parser's own words hold advice about `--` that fits no command here. */
function optionProblem({ name }: Command, options: OptionSpecs, code: string, message: string): string {
  const written = /'(-[^'\s]*)/.exec(message)?.[1] ?? "an option"
  const more = `see "sessions ${name} --help".`
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const near = suggest(written.replace(/^-+/, ""), Object.keys(options))
    return near === undefined
      ? `${name} has no option ${written}; for its options ${more}`
      : `${name} has no option ${written}; did you mean --${near}? For its options ${more}`
  }
  const option = /--([a-z-]+)/.exec(message)?.[1] ?? ""
  const { type, value } = options[option] ?? { type: "string" }
  return type === "boolean"
    ? `--${option} takes no value; ${more}`
    : `--${option} needs a value, ${value ?? "…"}; ${more}`
}

function checkCount(command: Command, given: readonly string[]): void {
  const needed = command.args.filter((arg) => !arg.endsWith("?"))
  const more = `see "sessions ${command.name} --help".`
  if (given.length < needed.length) {
    throw new UsageError(`${command.name} needs ${needed.slice(given.length).join(" and ")}; ${more}`)
  }
  if (given.length > command.args.length) {
    throw new UsageError(`${command.name} has no use for ${JSON.stringify(given[command.args.length])}; ${more}`)
  }
}

function parserOptions(options: OptionSpecs): Record<string, { type: "string" | "boolean"; short?: string }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [name, name === "help" ? { type, short: "h" } : { type }]),
  )
}
