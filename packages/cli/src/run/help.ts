/** Prints the overview and the help of a command, both generated from the table of commands. */
import { COMMON_OPTIONS } from "./args.ts"
import type { Command, OptionSpecs } from "../command.ts"
import { table } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"

export function overview(commands: readonly Command[]): Line[] {
  return [
    "Usage: sessions COMMAND [--store URL] [--json]",
    "",
    ...indented(commands.map((command) => [styled("bold", command.name), command.summary])),
    "",
    "URL is file:PATH, a path (default: the variable SESSIONS_STORE, else file:./.sessions), sqlite:PATH, s3:BUCKET/PREFIX, postgres://USER@HOST/DATABASE, https://HOST/PATH, or memory:, which is lost when the command ends.",
    "ID is a session id, a unique prefix of one, or @last: the session of a person that has the newest message.",
    "Exit status: 0 success, 1 failure or damage found, 2 wrong usage, 130 interrupted.",
    "",
    'Start with "sessions import FILE", "sessions list" or "sessions show @last".',
    '"sessions COMMAND --help" explains one command, "sessions completion --help" completion in a shell.',
  ]
}

export function commandHelp(command: Command): Line[] {
  const { name, summary, args, options, notes = [], examples } = command
  const usage = [
    "sessions",
    name,
    ...args.map(argumentUsage),
    ...Object.entries(options).map(([key, option]) => `[${optionUsage(key, option)}]`),
  ]
  return [
    `Usage: ${usage.join(" ")}`,
    "",
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
    ...indented(optionRows({ ...options, ...COMMON_OPTIONS })),
    "",
    styled("bold", "Examples"),
    ...examples.map((example) => `  sessions ${example}`),
  ]
}

function optionRows(options: OptionSpecs): string[][] {
  return Object.entries(options).map(([key, option]) => [optionUsage(key, option), option.help])
}

function argumentUsage(arg: string): string {
  return arg.endsWith("?") ? `[${arg.slice(0, -1)}]` : arg
}

function optionUsage(key: string, { value }: OptionSpecs[string]): string {
  return value === undefined ? `--${key}` : `--${key} ${value}`
}

function indented(rows: Parameters<typeof table>[0]): Line[] {
  return table(
    rows.map((row) => [" ", ...row]),
    ["left", "left", "left"],
  )
}
