/** What a request costs a handler, for requests of any shape. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { cpuTime } from "../../core/test/cpu-time.ts"
import { createSessionHandler, createStorageHandler } from "../src/server.ts"
import { newId } from "./sessions/server.ts"

const MB = 1_000_000
/** Milliseconds, below which the square would neither be seen nor matter. */
const LEAST_MS = 2
/** Between what is linear and the square. */
export const MOST_GROWTH = 8
export const ID: string = newId()

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}
/** A request of about so many bytes. */
export type Shape = (bytes: number) => Sent

async function handlers() {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: ID })
  await session.append({ type: "message", message: { role: "user", content: "hello" } })
  const authorize = (): string => "me"
  const onError = (error: unknown): never => {
    throw error
  }
  const api = createSessionHandler<string>({
    authorize,
    onError,
    sessions: () => sessions,
    run: () => undefined,
    background: false,
    maxBodyBytes: 10 * MB,
  })
  return { api, store: createStorageHandler<string>({ authorize, onError, storage: () => storage }) }
}

async function costOf(handler: (request: Request) => Promise<Response>, { path, ...init }: Sent): Promise<number> {
  const headers = { "content-type": "application/json", ...init.headers }
  const request = new Request(`http://host${path}`, { ...init, headers })
  const began = cpuTime()
  const answer = await handler(request)
  await answer.arrayBuffer()
  expect(answer.status).toBeLessThan(500)
  return cpuTime() - began
}

/** How many times the work of a shape of 25 kB one of 100 kB is: 4 if it is linear, 16 for the square. Too little to be measured counts as linear. */
export async function growthOf(which: "api" | "store", shape: Shape): Promise<number> {
  const handler = (await handlers())[which]
  // Of the least of some requests, since the machine does other things as well.
  const least = async (bytes: number): Promise<number> => {
    const costs: number[] = []
    for (let n = 0; n < 4; n++) costs.push(await costOf(handler, shape(bytes)))
    return Math.min(...costs)
  }
  // What is more than linear is so each time; a garbage collection is not.
  let growth = Number.POSITIVE_INFINITY
  for (let n = 0; n < 3 && growth >= MOST_GROWTH; n++) {
    const once = await least(25_000)
    growth = Math.min(growth, (await least(100_000)) / Math.max(once, LEAST_MS))
  }
  return growth
}

/** What a request may be made of; `#` is a number that grows. */
const PIECES = [
  '"k#":1,',
  '"k":1,',
  "[",
  "]",
  "{",
  "}",
  '"',
  String.raw`\"`,
  "\\",
  " ",
  ",",
  "1",
  "a",
  String.raw`\ud800`,
  "\u00e9",
  "%2e",
  "&",
  "=",
  "/",
  ".",
  "-",
  ":",
  "\n",
  "\r",
]

const PLACES: Readonly<Record<string, (text: string) => readonly ["api" | "store", Sent]>> = {
  body: (body) => ["api", { method: "POST", path: "/sessions", body }],
  "a value": (text) => ["api", { method: "POST", path: "/sessions", body: `{"metadata":{"a":${text}1}}` }],
  "a text": (text) => ["api", { method: "POST", path: "/sessions", body: JSON.stringify({ metadata: { a: text } }) }],
  keys: (text) => ["api", { method: "POST", path: "/sessions", body: `{"metadata":{${text}"z":1}}` }],
  title: (text) => ["api", { method: "PATCH", path: `/sessions/${ID}`, body: JSON.stringify({ title: text }) }],
  query: (text) => ["api", { method: "GET", path: `/sessions?${text.replaceAll("#", "")}` }],
  filter: (text) => ["api", { method: "GET", path: `/sessions?metadata=${encodeURIComponent(`{${text}"z":1}`)}` }],
  cursor: (text) => ["api", { method: "GET", path: `/sessions?cursor=${encodeURIComponent(text)}` }],
  place: (text) => ["api", { method: "GET", path: `/sessions/${ID}/events?wait=0&after=${encodeURIComponent(text)}` }],
  path: (text) => ["api", { method: "GET", path: `/sessions/${encodeURIComponent(text)}` }],
  document: (text) => ["store", { method: "PUT", path: "/docs/d", body: JSON.stringify({ from: null, to: text }) }],
  name: (text) => ["store", { method: "GET", path: `/docs/${encodeURIComponent(text)}` }],
  lines: (text) => [
    "store",
    {
      method: "POST",
      path: `/sessions/${newId()}/lines`,
      body: `{"expect":0,"lines":${text.split("\n").length}}\n${text}\n`,
      headers: { "content-type": "application/x-ndjson" },
    },
  ],
}

/** Looks for a request whose work grows faster than its bytes. */
export function fuzzTest(numRuns: number): void {
  test(`no request of ${numRuns} random ones costs more than in proportion to its bytes`, async () => {
    const parts = fc.tuple(
      fc.constantFrom(...Object.keys(PLACES)),
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
    )
    const check = async ([place, pieces]: readonly [string, readonly string[]]): Promise<void> => {
      const pattern = pieces.join("")
      const text = (bytes: number): string =>
        Array.from({ length: Math.ceil(bytes / pattern.length) }, (_, n) => pattern.replaceAll("#", `${n}`)).join("")
      const shape = (bytes: number): Sent =>
        (PLACES[place] as (text: string) => readonly [string, Sent])(text(bytes))[1]
      const [which] = (PLACES[place] as (text: string) => readonly ["api" | "store", Sent])("")
      expect(await growthOf(which, shape)).toBeLessThan(MOST_GROWTH)
    }
    await fc.assert(fc.asyncProperty(parts, check), { numRuns })
  })
}
