/** What a request costs: four times as many bytes of any shape are about four times the work of the handler. */
import { expect, test } from "vitest"
import { newId } from "./sessions/server.ts"
import { fuzzTest, growthOf, ID, MOST_GROWTH, type Sent, type Shape } from "./work.ts"

const times = (count: number, text: (n: number) => string, between = ","): string =>
  Array.from({ length: Math.ceil(count) }, (_, n) => text(n)).join(between)
const list = (query: string): Sent => ({ method: "GET", path: `/sessions?${query}` })
const create = (body: string): Sent => ({ method: "POST", path: "/sessions", body })
const prompt = (body: string): Sent => ({ method: "POST", path: `/sessions/${ID}/prompts`, body })
const document = (text: string): Sent => ({
  method: "PUT",
  path: "/docs/d",
  body: JSON.stringify({ from: null, to: text }),
})
const append = (lines: string, count: number): Sent => ({
  method: "POST",
  path: `/sessions/${newId()}/lines`,
  body: `{"expect":0,"lines":${count}}\n${lines}\n`,
  headers: { "content-type": "application/x-ndjson" },
})

const SESSION_API: Readonly<Record<string, Shape>> = {
  "metadata of many keys": (n) => create(`{"metadata":{${times(n / 10, (at) => `"k${at}":1`)}}}`),
  "one key, again and again": (n) => create(`{"metadata":{${times(n / 6, () => '"k":1')}}}`),
  "unknown fields": (n) => create(`{${times(n / 10, (at) => `"k${at}":1`)}}`),
  "a list of lists": (n) => create(`{"metadata":{"a":[${times(n / 3, () => "[]")}]}}`),
  "levels without an end": (n) => create(`{"metadata":{"a":${"[".repeat(n)}`),
  "quotes and escapes": (n) => create(`{"title":"${String.raw`\"`.repeat(n / 2)}"}`),
  "a text of backslashes": (n) => create(`{"metadata":{"a":"${"\\".repeat(2 * Math.floor(n / 2))}"}}`),
  "lone surrogates": (n) => create(`{"metadata":{"a":"${String.raw`\ud800`.repeat(n / 6)}"}}`),
  "white space": (n) => create(`{${" ".repeat(n)}}`),
  "what is no JSON": (n) => create(`{"a":${"-".repeat(n)}}`),
  "a long number": (n) => create(`{"metadata":{"a":${"9".repeat(n)}}}`),
  "attachments beyond the limit": (n) =>
    prompt(`{"id":"${newId()}","text":"x","attachments":[${times(n / 20, () => '{"path":"a"}')}]}`),
  "a long prompt": (n) => prompt(`{"id":"${newId()}","text":"${"x".repeat(n)}"}`),
  "a filter of many keys": (n) => list(`metadata=${encodeURIComponent(`{${times(n / 10, (at) => `"k${at}":1`)}}`)}`),
  "a query of many names": (n) => list(times(n / 8, (at) => `k${at}=1`, "&")),
  "a query with one name again": (n) => list(times(n / 4, () => "a=1", "&")),
  "names that are not ASCII": (n) => list("&é".repeat(n / 2)),
  "a long prefix": (n) => list(`idPrefix=${"a".repeat(n)}`),
  "a cursor of slashes": (n) => list(`cursor=${"/".repeat(n)}`),
  "a path of slashes": (n) => ({ method: "GET", path: `/sessions${"/".repeat(n)}` }),
  "an encoded path": (n) => ({ method: "GET", path: `/sessions/${"%2e".repeat(n / 3)}` }),
  "an id of dots": (n) => ({ method: "GET", path: `/sessions/${"a.".repeat(n / 2)}a` }),
  "a place of dots": (n) => ({ method: "GET", path: `/sessions/${ID}/events?wait=0&after=${"1.".repeat(n / 2)}` }),
  "a page before a long id": (n) => ({ method: "GET", path: `/sessions/${ID}?before=${"a".repeat(n)}` }),
}

const STORAGE: Readonly<Record<string, Shape>> = {
  "many short lines": (n) =>
    append(
      times(n / 2, () => "x", "\n"),
      Math.ceil(n / 2),
    ),
  "one long line": (n) => append("x".repeat(n), 1),
  "fewer lines than it says": (n) =>
    append(
      times(n / 2, () => "x", "\n"),
      1,
    ),
  "a document of brackets": (n) => document("[".repeat(n)),
  "a document of lists": (n) => document(`[${times(n / 3, () => "[]")}]`),
  "a document of quotes": (n) => document('"'.repeat(n)),
  "a long name": (n) => ({ method: "GET", path: `/docs/${"a".repeat(n)}` }),
  "a long prefix of names": (n) => ({ method: "GET", path: `/docs?prefix=${"a".repeat(n)}` }),
  "a long range": (n) => ({ method: "GET", path: `/sessions/${ID}/lines?from=${"1".repeat(n)}` }),
}

const ALL = [
  ...Object.entries(SESSION_API).map(([name, shape]) => [name, "api", shape] as const),
  ...Object.entries(STORAGE).map(([name, shape]) => [name, "store", shape] as const),
]

test.each(ALL)("%s (%s)", async (_, which, shape) => {
  expect(await growthOf(which, shape)).toBeLessThan(MOST_GROWTH)
})

fuzzTest(6)
