import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample, USER } from "../../test/sample.ts"

interface Tree {
  readonly id: string
  readonly leafId: string
  readonly entries: readonly Record<string, unknown>[]
}

async function branched() {
  const cli = createCli()
  const sample = await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  const other = await cli.use(async (sessions) => {
    const session = await sessions.open("a")
    await session.label(sample.entries[0] ?? "", "start")
    await session.branch(sample.entries[0] ?? "")
    const { ids } = await session.append({ type: "message", message: { role: "assistant", content: "another answer" } })
    await session.close()
    return ids[0]
  })
  return { cli, entries: sample.entries, other }
}

test("other branches are indented before the next entry of the path", async () => {
  const { cli, entries, other } = await branched()
  const lines = (await cli("tree", "a")).stdout.trimEnd().split("\n")
  expect(lines[0]).toBe(`* ${entries[0]}  user [start]  ${USER}`)
  expect(lines[1]).toMatch(new RegExp(`^  └ ${entries[1]}  assistant  I look`))
  expect(lines[2]).toMatch(new RegExp(`^    ${entries[2]}  toolResult`))
  expect(lines.at(-1)).toBe(`@ ${other}  assistant  another answer`)
})

test("--json prints a flat list in the same order", async () => {
  const { cli, entries, other } = await branched()
  const tree = (await cli.json("tree", "a")) as Tree
  expect(tree).toMatchObject({ id: "a", leafId: other })
  expect(tree.entries[0]).toMatchObject({
    id: entries[0],
    parentId: null,
    seq: 1,
    type: "message",
    role: "user",
    text: USER,
  })
  expect(tree.entries[0]).toMatchObject({ depth: 0, onPath: true, label: "start" })
  expect(tree.entries[1]).toMatchObject({ id: entries[1], parentId: entries[0], depth: 1, onPath: false })
})

test("a hidden entry is marked as deleted", async () => {
  const { cli, entries } = await branched()
  await cli("rm", "a", "--entry", entries[3] ?? "")
  expect((await cli("tree", "a")).stdout).toMatch(new RegExp(`${entries[3]}  assistant \\(deleted\\)`))
})

test("--short omits the middle of a long run and prints the number of entries", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "long" })
    for (let i = 0; i < 30; i++) await session.append({ type: "message", message: { role: "user", content: `m${i}` } })
    await session.close()
  })
  const { stdout } = await cli("tree", "long", "--short")
  expect(stdout).toMatch(/m0\n.*m1\n {2}… 26 entries\n.*m28\n@.*m29\n$/)
})
