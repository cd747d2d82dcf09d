import { parseArgs } from "node:util"
import type { RunOptions } from "../runner/run.ts"
import { selectCases } from "../runner/run.ts"

export interface Arguments {
  /** Of the module with the subject, as given. */
  readonly file: string
  readonly format: "text" | "json" | "tap"
  /** Cases and groups; undefined: all of them. */
  readonly only: readonly string[] | undefined
  readonly timeLimit: number
  /** Undefined: no properties are tried. */
  readonly properties: { readonly runs: number; readonly seed: number; readonly path?: string } | undefined
}

/** Wrong use of the command, in a sentence; it ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

export const HELP = `sessions-conformance SUBJECT [options]

Holds a storage to the contract of @sessions. SUBJECT is a module whose default export (or export \`subject\`) is a
Subject: how to make a place, open a storage on it and take it away. An array of them runs one after the other.

  --case ID        only this case, e.g. APPEND-07; may be given again
  --group NAME     only this group, e.g. cas, or properties; may be given again
  --seed N         of the properties; the report says which it was
  --path PATH      of a property's failure, with its seed: tries that one input again
  --runs N         inputs that each property tries (default 100; 0: none)
  --time-limit MS  for each case (default 10000)
  --json           the report as JSON
  --tap            the report as TAP 14
  --help           this text

Exit code: 0 when everything passed, 1 when something failed, 2 for wrong use.
Node runs it with \`npx sessions-conformance ./subject.ts\` (TypeScript needs Node 22.18 or newer),
Bun with \`bunx --bun sessions-conformance ./subject.ts\`,
Deno with \`deno run -A npm:@sessions/conformance/cli ./subject.ts\`.
`

/** Undefined: the help was asked for. Throws a {@link UsageError}. */
export function readArguments(args: readonly string[], now: () => number): Arguments | undefined {
  const { values, positionals } = parse(args)
  if (values.help === true) return undefined
  const [file, ...more] = positionals
  if (file === undefined) throw new UsageError("Name the module with your subject: sessions-conformance ./subject.ts")
  if (more.length > 0) throw new UsageError(`One module at a time; ${more.join(" ")} is one too many.`)
  if (values.json === true && values.tap === true) throw new UsageError("A report is either --json or --tap.")
  const named = [...(values.case ?? []), ...(values.group ?? [])].map((name) => name.toLowerCase())
  const only = named.filter((name) => name !== "properties")
  if (only.length > 0) checkNames(only)
  const runs = whole("--runs", values.runs ?? "100")
  const wanted = runs > 0 && (named.length === 0 || named.includes("properties"))
  const seed = values.seed === undefined ? now() % 2 ** 31 : whole("--seed", values.seed)
  return {
    file,
    format: values.json === true ? "json" : values.tap === true ? "tap" : "text",
    only: named.length === 0 ? undefined : only,
    timeLimit: whole("--time-limit", values["time-limit"] ?? "10000"),
    properties: wanted ? { runs, seed, ...(values.path !== undefined && { path: values.path }) } : undefined,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        case: { type: "string", multiple: true },
        group: { type: "string", multiple: true },
        seed: { type: "string" },
        path: { type: "string" },
        runs: { type: "string" },
        "time-limit": { type: "string" },
        json: { type: "boolean" },
        tap: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function checkNames(only: NonNullable<RunOptions["only"]>): void {
  try {
    selectCases(only)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function whole(name: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== "" && Number.isSafeInteger(number) && number >= 0) return number
  throw new UsageError(`${name} takes a whole number from 0, not ${JSON.stringify(text)}.`)
}
