/** Parses the arguments of the command. */
import { parseArgs } from "node:util"
import { TIME_LIMIT_MS } from "../helpers/timeout.ts"
import { type RunOptions, selectCases } from "../runner/run.ts"

export interface Arguments {
  /** The path of the subject's module, as given. */
  readonly file: string
  readonly format: "text" | "json" | "tap"
  /** Cases and groups to run; undefined for all. */
  readonly only: readonly string[] | undefined
  readonly timeLimit: number
  /** Undefined if no properties are checked. */
  readonly properties: { readonly runs: number; readonly seed: number; readonly path?: string } | undefined
}

/** Wrong use of the command. Its message is a sentence for the user; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

export const HELP: string = `sessions-conformance SUBJECT [options]

Tests a storage against the contract of @sessions. SUBJECT is a module whose default export (or export \`subject\`) is
a Subject, which creates a location, opens a storage on it and removes it. The subjects of an array run in turn.

  --case ID        run only this case, e.g. APPEND-07; repeatable
  --group NAME     run only this group, e.g. cas or properties; repeatable
  --seed N         seed of the properties; the report prints the one used
  --path PATH      with --seed: run only the failing input with this path
  --runs N         number of inputs per property (default 100; 0 for none)
  --time-limit MS  time limit of each case (default ${TIME_LIMIT_MS})
  --json           print the report as JSON
  --tap            print the report as TAP 14
  --help           print this text

Exit code: 0 if everything passed, 1 if something failed, 2 for wrong use.
Node runs it with \`npx sessions-conformance ./subject.ts\` (TypeScript needs Node 22.18 or newer),
Bun with \`bunx --bun sessions-conformance ./subject.ts\`,
Deno with \`deno run -A npm:@sessions/conformance/cli ./subject.ts\`.
`

/** Returns undefined if the help was requested. Throws a {@link UsageError}. */
export function readArguments(args: readonly string[], now: () => number): Arguments | undefined {
  const { values, positionals } = parse(args)
  if (values.help === true) return undefined
  const [file, ...more] = positionals
  if (file === undefined) throw new UsageError("Name the module of your subject: sessions-conformance ./subject.ts")
  if (more.length > 0) throw new UsageError(`Give one module only; ${more.join(" ")} is one too many.`)
  if (values.json === true && values.tap === true) throw new UsageError("Give either --json or --tap, not both.")
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
    timeLimit: whole("--time-limit", values["time-limit"] ?? String(TIME_LIMIT_MS)),
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
