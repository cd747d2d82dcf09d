/** Logs that other programs wrote. They are not part of the project; without them these tests are skipped. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { slots, stored } from "../../../test/older-logs.ts"
import { headerProblem } from "../../format/header.ts"
import { type Entry, entryProblem } from "../../format/entry.ts"
import { buildSessionContext } from "../../context/build.ts"
import { identifyLog } from "../../format/identify.ts"
import { isRawLine } from "./log.ts"
import { type MigratedLog, migrateLines } from "./migrate.ts"

const folder = fileURLToPath(new URL("../../../../../../shared/fixtures/", import.meta.url))
const present = existsSync(folder)
if (!present) console.info("Skipped: there is no ../shared/fixtures beside the project.")

const linesOf = (name: string) => readFileSync(`${folder}${name}.jsonl`, "utf8").split("\n")
const context = (log: MigratedLog) => buildSessionContext(slots(log), undefined, { header: log.header })
const titleSlot = "oh-my-pi/title-slot-v3"
const twoCompactions = "pi/v1-two-compactions"
const older = [twoCompactions, "pi/01-basic-v3", "pi/02-branch-compaction", "pi/05-v2-compat", titleSlot]

test.skipIf(!present)("their versions and writers are identified", () => {
  expect(older.map((name) => identifyLog(linesOf(name)))).toEqual([
    { kind: "older", version: 1, format: "pi" },
    { kind: "older", version: 3, format: "pi" },
    { kind: "older", version: 3, format: "pi" },
    { kind: "older", version: 2, format: "pi" },
    { kind: "older", version: 3, format: "oh-my-pi" },
  ])
  expect(identifyLog(linesOf("pi/v4-head"))).toEqual({ kind: "newer", version: 4 })
})

test.skipIf(!present)("other agents' sessions are foreign", () => {
  for (const name of ["claude-code/01-ordered-parent-chain", "codex/02-cli-vscode-active", "noumen/session-1"]) {
    expect(identifyLog(linesOf(name)).kind).toBe("foreign")
  }
})

test.skipIf(!present).each(older)("%s becomes complete entries without a diagnostic, and stays the same", (name) => {
  const migrated = migrateLines(linesOf(name))
  expect(migrated.diagnostics).toEqual([])
  expect(headerProblem(migrated.header)).toBeUndefined()
  for (const record of migrated.records) expect(entryProblem(record)).toBeUndefined()
  expect(migrateLines(stored(migrated)).records).toEqual(migrated.records)
})

test.skipIf(!present)("the first kept entries of a version 1 log are the records that its indexes name", () => {
  const lines = linesOf(twoCompactions).filter((line) => line !== "")
  const migrated = migrateLines(lines)
  expect(lines).toHaveLength(1003)
  expect(migrated.records).toHaveLength(1002)
  const compactions = migrated.records.filter(
    (record): record is Entry => !isRawLine(record) && record.type === "compaction",
  )
  expect(compactions.map((entry) => entry["firstKeptSeq"])).toEqual([293, 551])
  for (const entry of compactions) {
    const kept = slots(migrated)[entry["firstKeptSeq"] as number]
    expect(entry["firstKeptEntryId"]).toBe(kept?.id)
    expect(kept).toMatchObject({ timestamp: JSON.parse(lines[kept?.seq ?? 0] ?? "").timestamp })
  }
})

test.skipIf(!present)("version 1: the context is the writer's own, and starts from the header's model", () => {
  const migrated = migrateLines(linesOf(twoCompactions))
  const { messages, model, thinkingLevel } = context(migrated)
  expect(messages).toHaveLength(446)
  expect({ model, thinkingLevel }).toEqual({
    model: { provider: "anthropic", model: "claude-opus-4-5" },
    thinkingLevel: "off",
  })
  expect(migrated.header.parentSession).toEqual({ ref: expect.stringContaining("/sessions/") as string })
})

test.skipIf(!present)("a migration loses only transient fields", () => {
  const migrated = migrateLines(linesOf(twoCompactions))
  const written = migrated.records.map((record) => JSON.stringify(record))
  const records = linesOf(twoCompactions)
    .filter((line) => line !== "")
    .slice(1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  let dropped = 0
  const clean = (key: string, value: unknown) => {
    if (key !== "partialJson") return value
    dropped++
    return undefined
  }
  for (const [i, { type, timestamp, firstKeptEntryIndex: _, modelId, ...rest }] of records.entries()) {
    const entry = JSON.parse(written[i] ?? "") as Record<string, unknown>
    const expected = { type, timestamp, ...rest, ...(modelId === undefined ? {} : { model: modelId }) }
    expect(entry).toMatchObject(JSON.parse(JSON.stringify(expected, clean)) as object)
  }
  expect(dropped).toBe(3)
  expect(written.join("").includes("partialJson")).toBe(false)
})

test.skipIf(!present)("a branch summary keeps its abandoned leaf", () => {
  const { records } = migrateLines(linesOf("pi/02-branch-compaction"))
  expect(records.find((record) => (record as Entry).type === "branch_summary")).toMatchObject({ fromId: "a4000004" })
})

test.skipIf(!present)("the title slot is the last entry, and the reset before it empties the context", () => {
  const migrated = migrateLines(linesOf(titleSlot))
  expect(migrated.records.at(-1)).toMatchObject({ title: "Refactor auth module", source: "user", parentId: "a1b2c3d5" })
  expect(context(migrated).messages).toEqual([])
})
