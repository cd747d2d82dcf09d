/** Runs one command line: parses it, opens the store, runs the command and prints its result. */
import { createSessions, type Sessions } from "@sessions/core"
import { piLogs } from "@sessions/core/migrations"
import type { SessionStorage } from "@sessions/core/storage"
import { parseCommand, type ParsedArguments, splitCommand } from "./args.ts"
import type { Command, CommandResult, Invocation } from "../command.ts"
import { COMMANDS, GROUPS } from "../commands/table.ts"
import { COMPLETION_HELP, completionScript } from "./completion.ts"
import { EXIT_USAGE, toFailure, trace, UsageError } from "../errors.ts"
import { commandHelp, overview } from "./help.ts"
import type { Io } from "../io.ts"
import { type Line, viewOf, writeJson, writeLines } from "../output/lines.ts"
import { pagerOf } from "../output/pager.ts"
import { createProgress, NO_PROGRESS } from "../output/progress.ts"
import { asStarted } from "../started-as.ts"
import { resolveSession } from "../store/resolve.ts"
import { DEFAULT_STORE, openStore, type StoreFactory, STORES } from "../store/open.ts"
import { suggest } from "../suggest.ts"
import { CLI_VERSION } from "../version.ts"

/** Runs `argv`, given without the program's name, and resolves to the exit status. Never rejects. */
export async function run(
  argv: readonly string[],
  io: Io,
  stores: Readonly<Record<string, StoreFactory>> = STORES,
): Promise<number> {
  try {
    return await dispatch(argv, io, stores)
  } catch (error) {
    return await printFailure(error, io)
  }
}

async function dispatch(
  argv: readonly string[],
  io: Io,
  stores: Readonly<Record<string, StoreFactory>>,
): Promise<number> {
  const { name, rest } = splitCommand(argv)
  if (name === undefined) return await runWithoutCommand(argv, io)
  if (name === "help") return await printHelp(rest[0], io)
  if (name === "completion") return await printCompletion(rest, io)
  const command = findCommand(name)
  const parsed = parseCommand(command, rest)
  if (parsed.values["help"] === true) return await printHelp(name, io)
  const usesStore = command.usesStore !== false
  const store = String(parsed.values["store"] ?? (io.env["SESSIONS_STORE"] || DEFAULT_STORE))
  const create = command.createsStore?.(parsed.args, parsed.values) ?? false
  const { env } = io
  const openTarget: Invocation["openTarget"] = (url, o = { create: true }) =>
    openStore(url, io.cwd, { ...o, env, beside: store }, stores)
  const maxSessionBytes = command.maxSessionBytes?.(parsed.values)
  const limit = maxSessionBytes === undefined ? {} : { maxSessionBytes }
  const storage = usesStore
    ? await openStore(store, io.cwd, { create, env, ...limit }, stores)
    : await openStore(NO_STORE, io.cwd, { create, env }, STORES)
  return await withSessions(storage, (sessions) => execute(command, parsed, { sessions, store, openTarget }, io))
}

const NO_STORE = "memory:"

async function execute(
  command: Command,
  { values, args }: ParsedArguments,
  stores: Pick<Invocation, "sessions" | "store" | "openTarget">,
  io: Io,
): Promise<number> {
  const json = values["json"] === true
  const progress = json ? NO_PROGRESS : createProgress(io.stderr, io.now)
  const callOptions = io.signal === undefined ? {} : { signal: io.signal }
  let result: CommandResult | undefined
  try {
    result = await command.run({
      ...stores,
      values,
      args,
      json,
      io,
      callOptions,
      progress,
      resolveSession: (ref) => resolveSession(stores.sessions, ref),
    })
  } finally {
    await progress.clear()
  }
  if (result === undefined) return 0
  if (json) await writeJson(io.stdout, result.json)
  else await writeText(result.text(viewOf(io)), io)
  return result.exit ?? 0
}

/** Through the pager if the terminal cannot show all lines at once. Without a pager the lines go to the terminal. */
async function writeText(lines: Iterable<Line>, io: Io): Promise<void> {
  const pager = pagerOf(io)
  if (io.page === undefined || pager === undefined) return await writeLines(io.stdout, lines, io.env)
  const all = [...lines]
  const isShort = all.length < (io.stdout.rows ?? 0)
  if (isShort || !(await io.page(pager, (sink) => writeLines(sink, all, io.env))))
    await writeLines(io.stdout, all, io.env)
}

/** If both `use` and closing fail, the error of `use` is the one that the user needs. */
async function withSessions<T>(storage: SessionStorage, use: (sessions: Sessions) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage, readers: [piLogs] })
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

async function runWithoutCommand(argv: readonly string[], io: Io): Promise<number> {
  if (argv.includes("--version")) {
    await writeLines(io.stdout, [CLI_VERSION], io.env)
    return 0
  }
  const isRequested = argv.includes("--help") || argv.includes("-h")
  await writeLines(isRequested ? io.stdout : io.stderr, overview(GROUPS, io.program), io.env)
  return isRequested ? 0 : EXIT_USAGE
}

async function printHelp(name: string | undefined, io: Io): Promise<number> {
  const { program } = io
  const lines = name === undefined ? overview(GROUPS, program) : commandHelp(findCommand(name), program)
  await writeLines(io.stdout, lines, io.env)
  return 0
}

async function printCompletion(rest: readonly string[], io: Io): Promise<number> {
  const isHelp = rest.includes("--help") || rest.includes("-h")
  await writeLines(io.stdout, isHelp ? COMPLETION_HELP : completionScript(rest[0], COMMANDS), io.env)
  return 0
}

function findCommand(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name)
  if (command !== undefined) return command
  const near = suggest(
    name,
    COMMANDS.map((one) => one.name),
  )
  const hint = near === undefined ? "" : ` did you mean ${JSON.stringify(near)}? Or`
  throw new UsageError(`unknown command ${JSON.stringify(name)};${hint} see "sessions --help".`)
}

async function printFailure(thrown: unknown, io: Io): Promise<number> {
  const { exit, message } = toFailure(thrown)
  const lines = message === undefined ? [] : `sessions: ${asStarted(message, io.program)}`.split("\n")
  if (io.env["SESSIONS_DEBUG"] === "1" && message !== undefined) lines.push(...trace(thrown).split("\n"))
  // If standard error is closed, only the exit status is left.
  await writeLines(io.stderr, lines, io.env).catch(() => undefined)
  return exit
}
