/**
 * Small files of each format, made by hand after those of the agents, with what a correct import gives. `FIXTURES=FOLDER` adds those of
 * another folder with an `expected.json` of the same form.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions, type Entry } from "@sessions/core"
import { importSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Format } from "../src/base/format.ts"
import { type Golden, type Imported, importText, pathOf, recordsOf, written } from "./laws.ts"

const own = fileURLToPath(new URL("./fixtures/", import.meta.url))
const more = process.env["FIXTURES"]
const folders: readonly string[] = more === undefined ? [own] : [own, more]

/** A row of `expected.json`, for a file whose facts are counted. */
export interface Expected {
  readonly format: string
  /** Undefined for files that are refused, or that only a judge says something of. */
  readonly messages?: number
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
  /** What the reader of the Claude Agent SDK gives: the number of the line, the role and the blocks. */
  readonly sdk?: readonly string[]
}

export function fixture(name: string): string {
  return readFileSync(join(own, name), "utf8")
}

export interface Fixture {
  /** Below its folder. */
  readonly name: string
  readonly golden: Golden
  readonly expected: Expected
}

/** The fixtures of formats. `beside`: the names of files that may be beside one. */
export function fixturesOf(formats: readonly string[], beside: readonly string[] = []): readonly Fixture[] {
  return folders.flatMap((folder) => {
    const { files } = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as {
      readonly files: Readonly<Record<string, Expected>>
    }
    const rows = Object.entries(files).filter(([, { format }]) => formats.includes(format))
    return rows.map(([name, expected]) => {
      const path = join(folder, name)
      const found = beside.map((other) => [other, join(dirname(path), other)] as const)
      const texts = found
        .filter(([, file]) => existsSync(file))
        .map(([other, file]) => [other, readFileSync(file, "utf8")])
      return { name, expected, golden: { text: readFileSync(path, "utf8"), beside: Object.fromEntries(texts) } }
    })
  })
}

/** Those whose messages are counted. */
function countedOf(formats: readonly string[], beside?: readonly string[]): readonly [string, Fixture][] {
  const counted = fixturesOf(formats, beside).filter(({ expected }) => expected.messages !== undefined)
  return counted.map((one) => [one.name, one])
}

/** Tests every fixture of a format against `expected.json`. */
export function testFixtures(format: Format, beside: readonly string[] = []): void {
  test.each(countedOf([format.format], beside))("%s is imported as expected", async (_, { golden, expected }) => {
    const imported = await importText(format, golden)
    expect(await factsOf(imported, expected)).toEqual(expectedOf(expected))
    if (format.write === undefined) return
    expect(recordsOf(await written(format, imported.session))).toEqual(recordsOf(golden.text))
  })
}

/** Tests every fixture of formats that core reads. */
export function testFixturesOfCore(...formats: readonly string[]): void {
  test.each(countedOf(formats))("%s is imported as expected", async (_, { golden, expected }) => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id, diagnostics } = await importSession(sessions, golden.text)
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
