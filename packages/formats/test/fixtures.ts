/** Sessions that other programs wrote, with what a correct import gives. They are not part of the project; without them tests are skipped. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { createSessions, type Entry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Format } from "../src/base/format.ts"
import { type Golden, type Imported, importText, pathOf, recordsOf, written } from "./laws.ts"

const folder = fileURLToPath(new URL("../../../../shared/fixtures/", import.meta.url))
const present = existsSync(folder)
if (!present) console.info("Skipped: there is no ../shared/fixtures beside the project.")

/** A row of `expected.json`, for a file whose facts are counted. */
interface Expected {
  readonly format: string
  readonly messages: number
  readonly userMessages: number
  readonly assistantMessages: number
  readonly toolResults: number
  readonly otherMessages?: Readonly<Record<string, number>>
  readonly syntheticMessages?: number
  readonly compactions: number
  readonly leafText: string
  readonly contextMessages: number
  readonly branches: number
  readonly title?: string
  readonly titleSource?: string
  readonly cwd?: string
  readonly toolCalls: number
  readonly toolPairs?: number
  readonly diagnostics: readonly string[]
  readonly note?: string
  /** How many records Gemini CLI loads. */
  readonly loadedRecords?: number
}

export function fixture(name: string): string {
  return readFileSync(folder + name, "utf8")
}

/** Whether the fixtures are there: `test.skipIf(!hasFixtures)("…", …)`. */
export const hasFixtures: boolean = present

/** Tests every fixture of a format against `expected.json`. `beside` gives the files beside a fixture. */
export function testFixtures(format: Format, beside: Readonly<Record<string, Golden["beside"]>> = {}): void {
  const rows = present ? rowsOf([format.format]) : []
  test.skipIf(!present).each(rows)("%s is imported as expected", async (name, expected) => {
    const files = beside[name]
    const golden = { text: fixture(name), ...(files === undefined ? {} : { beside: files }) }
    const imported = await importText(format, golden)
    expect(await factsOf(imported, expected)).toEqual(expectedOf(expected))
    if (format.write === undefined) return
    expect(recordsOf(await written(format, imported.session))).toEqual(recordsOf(golden.text))
  })
}

/** Tests every fixture of formats that core reads. */
export function testFixturesOfCore(...formats: readonly string[]): void {
  const rows = present ? rowsOf(formats) : []
  test.skipIf(!present).each(rows)("%s is imported as expected", async (name, expected) => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id, diagnostics } = await sessions.import(fixture(name))
    const session = await sessions.open(id)
    await session.refresh()
    const entries: Entry[] = []
    for await (const entry of session.entries()) entries.push(entry)
    expect(await factsOf({ session, entries, diagnostics }, expected)).toEqual(expectedOf(expected))
  })
}

/** The facts of a session that a row names. */
async function factsOf(
  { session, entries, diagnostics }: Pick<Imported, "session" | "entries" | "diagnostics">,
  expected: Expected,
): Promise<object> {
  const info = await session.info()
  const { messages } = await session.messages({ limit: 1000 })
  const roles = messages.map(({ message }) => message.role)
  const count = (role: string) => roles.filter((found) => found === role).length
  const calls = messages.flatMap(({ message }) => (message.content ?? []).filter(({ type }) => type === "toolCall"))
  const results = new Set(
    messages.flatMap(({ message }) => (message.role === "toolResult" ? [message.toolCallId] : [])),
  )
  const context = await session.context({ repair: "none" })
  const last = messages.at(-1)?.message.content?.find(({ type }) => type === "text") as { text: string } | undefined
  const others = Object.keys(expected.otherMessages ?? {}).map((role) => [role, count(role)])
  const facts = {
    messages: roles.length,
    userMessages: count("user"),
    assistantMessages: count("assistant"),
    toolResults: count("toolResult"),
    otherMessages: Object.fromEntries(others) as object,
    syntheticMessages: messages.filter(({ message }) => message.synthetic === true).length,
    compactions: pathOf(entries, session.leafId).filter((item) => Object.hasOwn(item as object, "compaction")).length,
    leafText: Array.from(last?.text ?? "")
      .slice(0, 40)
      .join(""),
    contextMessages: context.messages.length,
    branches: branchesOf(entries),
    title: info.title,
    titleSource: info.titleSource,
    cwd: info.cwd,
    toolCalls: calls.length,
    toolPairs: calls.filter(({ id }) => results.has(String(id))).length,
    diagnostics: diagnostics.map(({ code }) => code),
  }
  return Object.fromEntries(Object.entries(facts).filter(([name]) => Object.hasOwn(expected, name)))
}

function rowsOf(formats: readonly string[]): [string, Expected][] {
  const { files } = JSON.parse(fixture("expected.json")) as { readonly files: Readonly<Record<string, Expected>> }
  return Object.entries(files).filter(([, row]) => formats.includes(row.format) && row.messages !== undefined)
}

/** The format is that of the test; `loadedRecords` and the rows of other readers have tests of their own. */
function expectedOf(row: Expected): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ELSEWHERE.has(name)))
}

const ELSEWHERE: ReadonlySet<string> = new Set(["format", "note", "loadedRecords"])

/** Messages that no other message continues, annotations between them left out. */
function branchesOf(entries: readonly Entry[]): number {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const continued = new Set<string>()
  for (const entry of entries) {
    if (!CONTENT.has(entry.type)) continue
    let parent = byId.get(entry.parentId ?? "")
    while (parent !== undefined && !CONTENT.has(parent.type)) parent = byId.get(parent.parentId ?? "")
    if (parent !== undefined) continued.add(parent.id)
  }
  return entries.filter(({ type, id }) => CONTENT.has(type) && !continued.has(id)).length
}

const CONTENT: ReadonlySet<string> = new Set(["message", "custom_message", "compaction", "branch_summary"])
