import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

interface Verified {
  readonly damaged: boolean
  readonly reports: readonly {
    id: string
    lines: number
    damaged: boolean
    diagnostics: { code: string; seq?: number }[]
  }[]
}

async function appended(...lines: string[]) {
  const cli = createCli()
  const { id } = await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  await cli.use(async ({ storage }) => {
    const head = await storage.head(id)
    if (head !== undefined && lines.length > 0) await storage.append(id, lines, { expect: head })
  })
  return cli
}

test("an intact session is ok, with its lines and size", async () => {
  const cli = await appended()
  const { exit, stdout } = await cli("verify", "a")
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^ok a \(5 lines, 1\.\d kB\)\n$/)
  expect(await cli.json("verify", "a")).toMatchObject({
    damaged: false,
    reports: [{ id: "a", lines: 5, damaged: false }],
  })
})

test("damage is reported with its line, and the exit status is 1", async () => {
  const cli = await appended("{ not json")
  const { exit, stdout } = await cli("verify", "a")
  expect(exit).toBe(1)
  expect(stdout).toMatch(/^damaged a .*\n {2}unparsable_line line 6 {2}/)
  const json = JSON.parse((await cli("verify", "a", "--json")).stdout) as Verified
  expect(json.damaged).toBe(true)
  expect(json.reports[0]?.diagnostics).toContainEqual(expect.objectContaining({ code: "unparsable_line", seq: 5 }))
})

test("an invalid record is reported once", async () => {
  const record = {
    type: "compaction",
    id: "x",
    parentId: null,
    seq: 5,
    timestamp: "2026-01-01T00:00:00.000Z",
    summary: 7,
  }
  const cli = await appended(JSON.stringify(record))
  const { reports } = JSON.parse((await cli("verify", "a", "--json")).stdout) as Verified
  const invalid = reports[0]?.diagnostics.filter(({ code, seq }) => code === "invalid_record" && seq === 5)
  expect(invalid?.length).toBe(1)
})

test("--all continues after a damaged session and counts them", async () => {
  const cli = await appended("[]")
  await cli.use((sessions) => makeSample(sessions, { id: "b" }))
  const { exit, stdout } = await cli("verify", "--all")
  expect(exit).toBe(1)
  expect(stdout).toMatch(/^damaged a /m)
  expect(stdout).toMatch(/^ok b /m)
  expect(stdout).toMatch(/\n2 sessions, 1 damaged\n$/)
})

test("--all continues after a log that is not a session", async () => {
  const cli = await appended()
  await cli.use(({ storage }) => storage.append("junk", ["hello"], { expect: 0 }))
  const { exit, stdout, stderr } = await cli("verify", "--all")
  expect({ exit, stderr }).toEqual({ exit: 1, stderr: "" })
  expect(stdout).toMatch(/^damaged junk /m)
  expect(stdout).toMatch(/^ok a /m)
})

test("an empty store has no damage", async () => {
  expect(await createCli()("verify", "--all")).toEqual({ exit: 0, stdout: "0 sessions, 0 damaged\n", stderr: "" })
})
