/**
 * Random histories of a folder: edits of the agent, changes by others, restarts, evictions, rewinds and undos, against a model that copies
 * the whole folder at each snapshot. FC_RUNS is the number of histories.
 */
import * as fs from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createWorkspace, type Workspace } from "./helpers.ts"

/** Some are folders of others: a file takes the place of a folder, and the other way round. */
const PATHS = ["a", "a/b", "a/b/c", "d", "e/f", "e/g", "__proto__", "e/ä ö"] as const
type Path = (typeof PATHS)[number]

type Step =
  | { readonly do: "begin" | "repeat" | "restart" | "undo" }
  | { readonly do: "edit" | "change"; readonly path: Path; readonly content: string }
  | { readonly do: "delete" | "remove"; readonly path: Path }
  | { readonly do: "rewind"; readonly which: number; readonly conversation: boolean }

const path = fc.constantFrom(...PATHS)
const content = fc.constantFrom("", "1", "2", "3", "4\r\n", "5")
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("begin" as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("edit" as const), path, content }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("change" as const), path, content }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), path }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("rewind" as const), which: fc.nat(), conversation: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("repeat" as const, "restart" as const, "undo" as const) }) },
)

interface Moment {
  /** A message, or the snapshot of a rewind. */
  readonly target: string
  readonly folder: Readonly<Record<string, string>>
}

/** What the folder was at each snapshot, and what each file was when it was tracked. */
class Model {
  readonly moments: Moment[] = []
  readonly tracked = new Map<string, { readonly since: number; readonly first: string | undefined }>()

  track(path: string, folder: Readonly<Record<string, string>>): void {
    if (!this.tracked.has(path)) this.tracked.set(path, { since: this.moments.length, first: folder[path] })
  }

  /** The tracked files after a rewind to a moment; undefined: no file. */
  expected(index: number): Record<string, string | undefined> {
    const { folder } = this.moments[index] as Moment
    return Object.fromEntries(
      [...this.tracked].map(([path, { since, first }]) => [path, since <= index ? folder[path] : first]),
    )
  }
}

test("after a rewind every tracked file has exactly the bytes it had when the message's turn began", async () => {
  const histories = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 30 }),
    fc.integer({ min: 2, max: 5 }),
    run,
  )
  await fc.assert(histories, { numRuns: Number(process.env["FC_RUNS"] ?? 16) })
})

async function run(steps: readonly Step[], maxSnapshots: number): Promise<void> {
  using w = await createWorkspace({ maxSnapshots })
  const model = new Model()
  let turn: string | undefined
  let undo: string | undefined
  const beginTurn = async (): Promise<void> => {
    const folder = w.files()
    turn = await w.begin()
    model.moments.push({ target: turn, folder })
  }
  const rewind = async (target: string, conversation: boolean): Promise<void> => {
    const index = model.moments.findIndex((one) => one.target === target)
    if (!(await w.checkpoints.canRewind(target))) {
      await expect(w.checkpoints.rewind(target)).rejects.toMatchObject({ code: "not_found" })
      return
    }
    const before = w.files()
    const result = await w.checkpoints.rewind(target, { conversation })
    model.moments.push({ target: result.undo as string, folder: before })
    const others = untracked(before, model)
    expect(untracked(w.files(), model)).toEqual(others)
    // A file that was not tracked at the target's time may be in the place of a folder, or below the place of a file.
    const failed = result.failed.map((one) => one.path)
    const wanted = Object.entries(model.expected(index)).filter(([, content]) => content !== undefined)
    const there = [...others, ...wanted].map(([other]) => other)
    for (const one of failed) expect(there.some((other) => isBelow(one, other) || isBelow(other, one))).toBe(true)
    expect(without(failed, pick(w.files(), model))).toEqual(without(failed, model.expected(index)))
    undo = result.undo
    turn = undefined
  }
  for (const one of steps) {
    if (one.do === "begin") await beginTurn()
    else if (one.do === "restart") {
      await w.restart()
      if (turn !== undefined) await w.checkpoints.begin(turn)
    } else if (one.do === "repeat") {
      if (turn !== undefined) await w.checkpoints.begin(turn)
    } else if (one.do === "edit" || one.do === "delete") {
      if (turn === undefined) await beginTurn()
      await edit(w, model, one.path, one.do === "edit" ? one.content : undefined)
    } else if (one.do === "change" || one.do === "remove") {
      change(w, one.path, one.do === "change" ? one.content : undefined)
      // A turn that is running has no backup of it; the next one has.
      turn = undefined
    } else if (one.do === "undo") {
      if (undo !== undefined) await rewind(undo, false)
    } else if (one.do === "rewind" && model.moments.length > 0) {
      await rewind((model.moments[one.which % model.moments.length] as Moment).target, one.conversation)
    }
    const kept = await w.checkpoints.list()
    expect(kept.map(({ id, messageId, reason }) => (reason === "turn" ? messageId : id)).reverse()).toEqual(
      expect.arrayContaining(model.moments.slice(-1).map(({ target }) => target)),
    )
    expect(kept.length).toBeLessThanOrEqual(maxSnapshots)
  }
}

/** As an agent does it: what gives way is tracked and removed first, so that the file itself is absent when it is tracked. */
async function edit(w: Workspace, model: Model, path: string, content: string | undefined): Promise<void> {
  if (content === undefined && w.files()[path] === undefined) return
  const giveWay = content === undefined ? [] : inTheWay(w, path)
  for (const paths of [giveWay, [path]]) {
    for (const one of paths) model.track(one, w.files())
    await Promise.all(paths.map((one) => w.checkpoints.track(one)))
    if (content !== undefined) makeRoom(w, path)
  }
  change(w, path, content)
}

/** The files below a path, and those in the place of its folders. */
function inTheWay(w: Workspace, path: string): string[] {
  return Object.keys(w.files()).filter((one) => isBelow(one, path) || isBelow(path, one))
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`)
}

function change(w: Workspace, path: string, content: string | undefined): void {
  const at = join(w.root, path)
  if (content === undefined) {
    if (w.files()[path] !== undefined) fs.rmSync(at)
    return
  }
  makeRoom(w, path)
  w.write(path, content)
}

function makeRoom(w: Workspace, path: string): void {
  const at = join(w.root, path)
  for (const one of inTheWay(w, path)) fs.rmSync(join(w.root, one))
  if (fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory() === true) fs.rmSync(at, { recursive: true })
}

function pick(files: Readonly<Record<string, string>>, model: Model): Record<string, string | undefined> {
  return Object.fromEntries([...model.tracked.keys()].map((one) => [one, files[one]]))
}

function untracked(files: Readonly<Record<string, string>>, model: Model): [string, string][] {
  return Object.entries(files).filter(([one]) => !model.tracked.has(one))
}

function without(paths: readonly string[], files: Record<string, string | undefined>): unknown {
  return Object.entries(files).filter(([one]) => !paths.includes(one))
}
