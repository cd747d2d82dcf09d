/** Prints the overview and the help of a command, both generated from the table of commands. */
import { COMMON_OPTIONS } from "./args.ts"
import type { Command, OptionSpecs } from "../command.ts"
import type { GROUPS } from "../commands/table.ts"
import { type Line, styled } from "../output/lines.ts"
import { asStarted } from "../started-as.ts"

/** Lines of the help are no longer, on any terminal, so that they read the same in a file. */
const WIDTH = 80

export function overview(groups: typeof GROUPS, program?: string): Line[] {
  const text = (line: string): string[] => wrapped(asStarted(line, program))
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name.length))
  const column = Math.max(...names)
  return [
    asStarted("Usage: sessions COMMAND [--store URL] [--json]", program),
    ...groups.flatMap(({ title, commands }) => [
      "",
      styled("bold", title),
      ...commands.flatMap(({ name, summary }) => row(name, summary, column)),
    ]),
    "",
    ...wrapped(
      "URL is file:PATH, a path (default: the variable SESSIONS_STORE, else file:./.sessions), sqlite:PATH, s3:BUCKET/PREFIX, postgres://USER@HOST/DATABASE, https://HOST/PATH, or memory:, which is lost when the command ends.",
    ),
    ...wrapped(
      "ID is a session id, a unique prefix of one, or @last: the session of a person that has the newest message. One that begins with - goes behind --.",
    ),
    ...wrapped("Exit status: 0 success, 1 failure, damage found or no match, 2 wrong usage, 130 interrupted."),
    "",
    ...text('Start with "sessions import FILE", "sessions list" or "sessions show @last".'),
    ...text('"sessions COMMAND --help" explains one command, "sessions completion --help" completion in a shell.'),
  ]
}

export function commandHelp(command: Command, program: string = "sessions"): Line[] {
  const { name, summary, args, options, notes = [], examples } = command
  const usage = [
    `Usage: ${program} ${name}`,
    ...args.map(argumentUsage),
    ...Object.entries(options).map(([key, option]) => `[${optionUsage(key, option)}]`),
  ]
  const rows = optionRows({ ...options, ...COMMON_OPTIONS })
  const column = Math.max(...rows.map(([option]) => option.length))
  return [
    ...filled(usage, " ".repeat((usage[0] ?? "").length + 1)),
    "",
    ...wrapped(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`),
    ...(notes.length === 0 ? [] : ["", ...wrapped(asStarted(notes.join(" "), program))]),
    "",
    ...rows.flatMap(([option, help]) => row(option, help, column)),
    "",
    styled("bold", "Examples"),
    ...examples.map((example) => `  ${program} ${example}`),
  ]
}

/** A name and its text, which goes on below itself. */
function row(name: string, text: string, column: number): Line[] {
  const [first = "", ...more] = wrapped(text, WIDTH - column - 4)
  const left = `  ${name}${" ".repeat(column - name.length)}  `
  return [
    [`  `, styled("bold", name), `${left.slice(2 + name.length)}${first}`],
    ...more.map((line) => " ".repeat(left.length) + line),
  ]
}

function wrapped(text: string, width: number = WIDTH): string[] {
  return filled(text.split(" "), "", width)
}

/** Words in lines of at most `width`, with the indent before all but the first. A longer word is a line of its own. */
function filled(words: readonly string[], indent: string, width: number = WIDTH): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of words) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent + word
    } else line += line === "" ? word : ` ${word}`
  }
  return [...lines, line]
}

function optionRows(options: OptionSpecs): (readonly [option: string, help: string])[] {
  return Object.entries(options).map(([key, option]) => [optionUsage(key, option), option.help])
}

function argumentUsage(arg: string): string {
  return arg.endsWith("?") ? `[${arg.slice(0, -1)}]` : arg
}

function optionUsage(key: string, { value }: OptionSpecs[string]): string {
  return value === undefined ? `--${key}` : `--${key} ${value}`
}
