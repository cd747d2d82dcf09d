/**
 * Counts the source files whose functions an operation on files calls: one awaited append to an open session, and open() and context()
 * of a session of seven lines in a new repository. Uses V8's precise coverage on the sources. Module evaluation does not count: each
 * operation runs once before, so that all modules are loaded. `--files` lists the files, `--docs` writes them into `docs/architecture.md`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { Session as Inspector } from "node:inspector/promises"
import { basename, dirname, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { message } from "./data.ts"
import { withFolder } from "./folder.ts"
import { verify } from "./rounds.ts"

/** A header and six messages. */
const MESSAGES = 6
/** The shortest of them counts: an append looks at its lock file every 50 ms only. */
const APPENDS = 9

const packages = new URL("../../packages/", import.meta.url).href
const architecture = new URL("../../docs/architecture.md", import.meta.url)
const operations = new Map<string, Calls>()
const inspector = new Inspector()
inspector.connect()
await inspector.post("Profiler.enable")
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })

await withFolder(async (root) => {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const session = await sessions.create()
  for (let i = 0; i < MESSAGES; i++) await session.append(message(i))
  const other = await sessions.create()
  await other.append(message(0))
  const appends: Calls[] = []
  for (let i = 1; i <= APPENDS; i++) appends.push(await callsOf(() => other.append(message(i))))
  report(
    "append",
    appends.reduce((least, calls) => (calls.size < least.size ? calls : least)),
  )
  await sessions.close()

  const openAnew = async (): Promise<Calls> => {
    const again = createSessions({ storage: createFileStorage({ root }) })
    const calls = await callsOf(async () => {
      const { messages } = await (await again.open(session.id)).context()
      verify(messages.length === MESSAGES, `${messages.length} messages`)
    })
    await again.close()
    return calls
  }
  await openAnew()
  report("open and context", await openAnew())
})
inspector.disconnect()
if (process.argv.includes("--docs")) writeTable()

/** The number of calls of functions of each source file. */
type Calls = ReadonlyMap<string, number>

async function callsOf(operation: () => Promise<unknown>): Promise<Calls> {
  // Taking the coverage sets its counts to zero.
  await inspector.post("Profiler.takePreciseCoverage")
  await operation()
  const { result } = await inspector.post("Profiler.takePreciseCoverage")
  const calls = new Map<string, number>()
  for (const { url, functions } of result.filter(({ url }) => url.startsWith(packages) && url.includes("/src/"))) {
    const counts = functions.map(({ functionName, ranges: [range] }) => {
      const isModule = functionName === "" && range?.startOffset === 0
      return isModule ? 0 : (range?.count ?? 0)
    })
    const sum = counts.reduce((total, count) => total + count, 0)
    if (sum > 0) calls.set(relative(fileURLToPath(packages), fileURLToPath(url)), sum)
  }
  return calls
}

function report(name: string, calls: Calls): void {
  operations.set(name, calls)
  const sum = [...calls.values()].reduce((total, count) => total + count, 0)
  console.log(`${name}: ${calls.size} files, ${sum} calls`)
  if (!process.argv.includes("--files")) return
  for (const [file, count] of [...calls].sort(([a], [b]) => a.localeCompare(b))) console.log(`  ${file} ${count}`)
}

/** Replaces the table between the two comments in `docs/architecture.md`. */
function writeTable(): void {
  const names = [...operations.keys()]
  const folders = new Set([...operations.values()].flatMap((calls) => [...calls.keys()].map(dirname)))
  const counts = names.map((name) => `${name}: ${operations.get(name)?.size ?? 0} files`)
  const rows = [...folders].sort().map((folder) => [`\`${folder}\``, ...names.map((name) => filesOf(name, folder))])
  const table = [["folder", ...counts], names.concat("").map(() => "---"), ...rows]
  const block = /(<!-- call path: .* -->\n)[^]*?(<!-- end of the call path -->)/
  const text = readFileSync(architecture, "utf8")
  verify(block.test(text), "docs/architecture.md has no block for the call path")
  const lines = table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
  writeFileSync(
    architecture,
    text.replace(block, (_, begin: string, end: string) => `${begin}\n${lines}\n\n${end}`),
  )
}

function filesOf(name: string, folder: string): string {
  const files = [...(operations.get(name)?.keys() ?? [])].filter((file) => dirname(file) === folder)
  return files
    .map((file) => basename(file, ".ts"))
    .sort()
    .join(", ")
}
