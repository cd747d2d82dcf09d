import { createSessions } from "@sessions/core"
import type { Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { parseCommand, splitCommand } from "./args.ts"
import type { Parsed } from "./args.ts"
import type { Command, Outcome } from "../command.ts"
import { COMMANDS } from "../commands/table.ts"
import { EXIT_USAGE, toFailure, trace, UsageError } from "../errors.ts"
import { commandHelp, overview } from "./help.ts"
import type { Io } from "../io.ts"
import { viewOf, writeJson, writeLines } from "../output/lines.ts"
import { createProgress } from "../output/progress.ts"
import { resolveSession } from "../store/resolve.ts"
import type { StoreFactory } from "../store/open.ts"
import { DEFAULT_STORE, openStore, STORES } from "../store/open.ts"
import { suggest } from "./suggest.ts"

/** A test compares it with `package.json`. */
const VERSION = "0.1.0"

/** Runs one command line, given without the program's name, and gives its exit status. Never rejects. */
export async function run(
  argv: readonly string[],
  io: Io,
  stores: Readonly<Record<string, StoreFactory>> = STORES,
): Promise<number> {
  try {
    return await dispatch(argv, io, stores)
  } catch (error) {
    return await fail(error, io)
  }
}

async function dispatch(
  argv: readonly string[],
  io: Io,
  stores: Readonly<Record<string, StoreFactory>>,
): Promise<number> {
  const { name, rest } = splitCommand(argv)
  if (name === undefined) return await withoutCommand(argv, io)
  if (name === "help") return await help(rest[0], io)
  const command = commandNamed(name)
  const parsed = parseCommand(command, rest)
  if (parsed.values["help"] === true) return await help(name, io)
  const store = parsed.values["store"] ?? DEFAULT_STORE
  const open = (url: string): SessionStorage => openStore(url, io.cwd, stores)
  return await withSessions(open(String(store)), (sessions) => execute(command, parsed, sessions, open, io))
}

async function execute(
  command: Command,
  { values, args }: Parsed,
  sessions: Sessions,
  open: (url: string) => SessionStorage,
  io: Io,
): Promise<number> {
  const progress = createProgress(io.stderr, io.now)
  const json = values["json"] === true
  const call = io.signal === undefined ? {} : { signal: io.signal }
  const session = (ref: string): Promise<string> => resolveSession(sessions, ref)
  let outcome: Outcome | undefined
  try {
    outcome = await command.run({ sessions, values, args, json, io, call, progress, session, openStore: open })
  } finally {
    await progress.clear()
  }
  if (outcome === undefined) return 0
  if (json) await writeJson(io.stdout, outcome.json)
  else await writeLines(io.stdout, outcome.text(viewOf(io)), io.env)
  return outcome.exit ?? 0
}

/** What went wrong first is what a person gets to hear, not that closing failed after it. */
async function withSessions<T>(storage: SessionStorage, use: (sessions: Sessions) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage })
  let result: T
  try {
    result = await use(sessions)
  } catch (error) {
    await sessions.close().catch(() => undefined)
    throw error
  }
  await sessions.close()
  return result
}

async function withoutCommand(argv: readonly string[], io: Io): Promise<number> {
  if (argv.includes("--version")) {
    await writeLines(io.stdout, [VERSION], io.env)
    return 0
  }
  const asked = argv.includes("--help") || argv.includes("-h")
  await writeLines(asked ? io.stdout : io.stderr, overview(COMMANDS), io.env)
  return asked ? 0 : EXIT_USAGE
}

async function help(name: string | undefined, io: Io): Promise<number> {
  await writeLines(io.stdout, name === undefined ? overview(COMMANDS) : commandHelp(commandNamed(name)), io.env)
  return 0
}

function commandNamed(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name)
  if (command !== undefined) return command
  const near = suggest(
    name,
    COMMANDS.map((one) => one.name),
  )
  const hint = near === undefined ? '"sessions --help" lists them' : `did you mean ${JSON.stringify(near)}?`
  throw new UsageError(`there is no command ${JSON.stringify(name)}; ${hint}`)
}

async function fail(thrown: unknown, io: Io): Promise<number> {
  const { exit, message } = toFailure(thrown)
  const lines = message === undefined ? [] : [`sessions: ${message}`]
  if (io.env["SESSIONS_DEBUG"] === "1" && message !== undefined) lines.push(...trace(thrown).split("\n"))
  // With nobody left to read it, the exit status is all there is to say.
  await writeLines(io.stderr, lines, io.env).catch(() => undefined)
  return exit
}
