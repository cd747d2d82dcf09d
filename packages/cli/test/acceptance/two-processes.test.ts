import { expect, test } from "vitest"
import { sessions as sessionsProcess } from "../cli-process.ts"
import type { Child } from "./child-process.ts"
import { startChild } from "./child-process.ts"
import { log, textsOf } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { makePlace } from "./workspace.ts"

const WRITER = new URL("./writer-process.ts", import.meta.url)

const writer = (place: Place, ...args: string[]): Child => startChild(WRITER, place.store, "shared", ...args)

async function shared(): Promise<Place> {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "shared")
  return place
}

async function contextOf(place: Place): Promise<string[]> {
  const { stdout } = await place.cli("context", "shared", "--json")
  return textsOf((JSON.parse(stdout) as { messages: never[] }).messages)
}

function records(place: Place): { type: string; id: string; message?: { content: { text: string }[] } }[] {
  const lines = place.log("shared").toString().trimEnd().split("\n")
  return lines.map((line) => JSON.parse(line) as never)
}

test("a rename from a process that is five entries behind leaves the context as it was", async () => {
  const place = await shared()
  const late = writer(place, "rename", "from behind")
  expect(await late.line()).toBe("ready")
  const sessions = place.open()
  const session = await sessions.open("shared")
  for (let n = 0; n < 5; n++) await session.append({ type: "message", message: { role: "user", content: `new ${n}` } })
  const before = await contextOf(place)
  expect(before.length).toBe(8)
  late.say("go")
  expect(await late.rest()).toEqual(["renamed"])
  expect(await contextOf(place)).toEqual(before)
  expect((await sessions.info("shared")).title).toBe("from behind")
  await session.append({ type: "message", message: { role: "assistant", content: "and on" } })
  expect(await contextOf(place)).toEqual([...before, "and on"])
  expect((await place.cli("verify", "shared")).exit).toBe(0)
})

test("two turns at once are both kept whole", async () => {
  const place = await shared()
  const children = ["ann", "bob"].map((name) => writer(place, "turn", name))
  for (const child of children) expect(await child.line()).toBe("ready")
  for (const child of children) child.say("go")
  const attempts = await Promise.all(children.map(async (child) => Number((await child.rest())[0])))
  const texts = records(place).flatMap(({ message }) => message?.content.map(({ text }) => text) ?? [])
  for (const name of ["ann", "bob"]) {
    expect(texts.filter((text) => text === `${name} asks`).length).toBe(1)
    expect(texts.filter((text) => text === `${name} is answered`).length).toBe(1)
  }
  // Either the second began anew on the first one's end, or they stand as two branches and it is said.
  const context = await contextOf(place)
  const { reports } = JSON.parse((await place.cli("verify", "shared", "--json")).stdout) as {
    reports: { damaged: boolean; diagnostics: { code: string }[] }[]
  }
  expect(reports[0]?.damaged).toBe(false)
  const said = reports[0]?.diagnostics.map(({ code }) => code) ?? []
  const isInLine = context.length === 7
  expect([Math.max(...attempts) > 0 && !isInLine, isInLine || said.includes("diverged")]).toEqual([false, true])
})

test("an entry that two processes append again and again is there once", async () => {
  const place = await shared()
  const children = [writer(place, "same", "request-1", "5"), writer(place, "same", "request-1", "5")]
  for (const child of children) expect(await child.line()).toBe("ready")
  for (const child of children) child.say("go")
  for (const child of children) expect(await child.rest()).toEqual(Array.from({ length: 5 }, () => "request-1"))
  const again = writer(place, "same", "request-1", "2")
  again.say("go")
  expect(await again.rest()).toEqual(["ready", "request-1", "request-1"])
  expect(records(place).filter(({ id }) => id === "request-1").length).toBe(1)
  expect((await contextOf(place)).filter((text) => text === "once").length).toBe(1)
})

test("what four processes append at once is there, each entry once, each process's in its order", async () => {
  const place = await shared()
  const names = ["a", "b", "c", "d"]
  const said = await Promise.all(names.map((name) => writer(place, "appends", name, "40").rest()))
  const stored = records(place).map(({ id }) => id)
  for (const [index, ids] of said.entries()) {
    expect(ids.length, names[index]).toBe(40)
    const mine = new Set(ids)
    expect(
      stored.filter((id) => mine.has(id)),
      names[index],
    ).toEqual(ids)
  }
  expect(new Set(stored).size).toBe(stored.length)
  const info = JSON.parse((await place.cli("show", "shared", "--json", "--last", "0")).stdout) as {
    info: { messageCount: number }
  }
  expect(info.info.messageCount).toBe(3 + 4 * 40)
  expect(JSON.parse((await place.cli("verify", "shared", "--json")).stdout)).toMatchObject({ damaged: false })
})

test("commands at once on one session all succeed, and each is in the log", async () => {
  const place = await shared()
  const titles = ["one", "two", "three"]
  const results = await Promise.all([
    ...titles.map((title) => sessionsProcess({ cwd: place.cwd }, "rename", "shared", title)),
    sessionsProcess({ cwd: place.cwd }, "label", "shared", "m1", "start"),
    sessionsProcess({ cwd: place.cwd }, "fork", "shared", "--id", "forked"),
  ])
  for (const result of results) expect(result).toMatchObject({ exit: 0, stderr: "" })
  const changes = records(place).filter(({ type }) => type === "title_change")
  expect(changes.length).toBe(3)
  expect(await contextOf(place)).toEqual(["text 1", "text 2", "text 3"])
  expect((await place.cli("verify", "--all")).stdout).toContain("2 sessions, none damaged")
})

test("a process that has a session open finds it gone when another deletes it, and does not bring it back", async () => {
  const place = await shared()
  const late = writer(place, "rename", "late")
  expect(await late.line()).toBe("ready")
  expect((await place.cli("rm", "shared")).exit).toBe(0)
  late.say("go")
  await expect(late.rest()).rejects.toThrow(/not_found|no session|deleted/)
  const list = JSON.parse((await place.cli("list", "--json")).stdout) as { sessions: unknown[] }
  expect(list.sessions).toEqual([])
})
