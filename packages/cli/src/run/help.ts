/** Help made of what the table of commands says, so that the two cannot differ. */
import { COMMON_OPTIONS } from "./args.ts"
import type { Command, OptionSpecs } from "../command.ts"
import { table } from "../output/format.ts"
import type { Line } from "../output/lines.ts"
import { styled } from "../output/lines.ts"

export function overview(commands: readonly Command[]): Line[] {
  return [
    "Usage: sessions COMMAND [--store URL] [--json]",
    "",
    ...indented(commands.map((command) => [styled("bold", command.name), command.summary])),
    "",
    "URL is file:PATH (or just a path; default file:./.sessions), or memory:, which forgets everything at the end.",
    "ID is a session's id, the start of one, or @last: the session with the newest message.",
    "Exit status: 0 done, 1 failed (or damage found), 2 wrong use.",
    "",
    'Try "sessions import FILE", "sessions list", "sessions show @last"; "sessions COMMAND --help" says more.',
  ]
}

export function commandHelp(command: Command): Line[] {
  const { name, summary, args, options, notes = [], examples } = command
  const usage = [
    "sessions",
    name,
    ...args.map(shownArg),
    ...Object.entries(options).map(([key, option]) => `[${shownOption(key, option)}]`),
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
  return Object.entries(options).map(([key, option]) => [shownOption(key, option), option.help])
}

function shownArg(arg: string): string {
  return arg.endsWith("?") ? `[${arg.slice(0, -1)}]` : arg
}

function shownOption(key: string, { value }: OptionSpecs[string]): string {
  return value === undefined ? `--${key}` : `--${key} ${value}`
}

function indented(rows: Parameters<typeof table>[0]): Line[] {
  return table(
    rows.map((row) => [" ", ...row]),
    ["left", "left", "left"],
  )
}
