import { answers, createNetwork, registerSchedules, runSchedule } from "@sessions/conformance/network"
import { startProxy } from "@sessions/conformance/proxy"
import { expect, test } from "vitest"
import { networked, networkMutants } from "../src/mutants/networks.ts"

registerSchedules(test, networked("sound"), { runs: 50 })

const SHORT = { timeLimit: 100 }

test("schedules find each storage that believes a wrong answer to a write", async () => {
  const writing = networkMutants.filter(({ fails }) => /NETWORK-0[123]/.test(fails.join()))
  for (const { subject } of writing) {
    const found: string[] = []
    for (let seed = 0; seed < 20 && found.length === 0; seed++)
      found.push(...(await runSchedule(subject, seed, SHORT)).wrong)
    expect([subject.name, found.length > 0]).toEqual([subject.name, true])
  }
  expect(writing.length).toBeGreaterThan(4)
})

/** A server that counts the requests that have arrived. */
function counting() {
  const arrived: string[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    arrived.push(`${init.method} ${new URL(url).pathname}`)
    return new Response("the right answer", { headers: { etag: '"right"' } })
  }
  return { arrived, fetch }
}

const post = { method: "POST" }

test("an answer comes in place of a request, or after it was done", async () => {
  const { arrived, fetch } = counting()
  for (const [name, count] of [
    ["502 with a page, instead", 0],
    ["502 with a page, done", 1],
    ["the request sent twice", 2],
    ["twice", 1],
  ] as const) {
    arrived.length = 0
    const answer = await createNetwork(fetch, () => name).fetch("http://store/k", post)
    expect([name, arrived.length, answer.status]).toEqual([name, count, name.startsWith("502") ? 502 : 200])
  }
})

test("a request that is late arrives when the client has gone, and one that is repeated arrives again", async () => {
  const { arrived, fetch } = counting()
  const late = createNetwork(fetch, () => "the request later")
  const call = late.fetch("http://store/k", { ...post, signal: AbortSignal.timeout(1) })
  await expect(call).rejects.toMatchObject({ name: "TimeoutError" })
  expect(arrived.length).toBe(0)
  await late.arrive()
  expect(arrived.length).toBe(1)
  const again = createNetwork(fetch, () => "the request again later")
  expect(await (await again.fetch("http://store/k", post)).text()).toBe("the right answer")
  await again.arrive()
  expect(arrived.length).toBe(3)
})

test("a name that is none is a mistake of the test", async () => {
  const { fetch } = createNetwork(counting().fetch, () => "a name")
  await expect(fetch("http://store/k", post)).rejects.toThrow("no answer named a name")
})

test("a proxy on loopback gives the same answers, and breaks connections where a line would", async () => {
  const { arrived, fetch: right } = counting()
  let name: string | undefined
  const proxy = await startProxy(right, () => name)
  const call = async (method = "POST"): Promise<string> => {
    const answer = await fetch(`${proxy.url}/k`, { method, signal: AbortSignal.timeout(200) })
    return `${answer.status} ${answer.headers.get("etag")} ${await answer.text()}`
  }
  expect(await call()).toBe('200 "right" the right answer')
  name = "with another ETag"
  expect(await call()).toBe('200 "another" the right answer')
  name = "cut off"
  expect(await call()).toBe('200 "right" the righ')
  const done: boolean[] = []
  for (name of ["a connection that breaks, done", "cut off within its body", "no answer, instead"]) {
    arrived.length = 0
    await expect(call(), name).rejects.toMatchObject({ name: expect.stringMatching(/^(TypeError|TimeoutError)$/) })
    // Deno sends a request a second time whose kept connection broke.
    done.push(arrived.length > 0)
  }
  expect(done).toEqual([true, true, false])
  await proxy.close()
})

test("the answers are those of the contract's list, each in place of a request and after it", () => {
  for (const status of [
    "200 with a page",
    "200 with nothing",
    "404 with a page",
    "403 with a page",
    "413 with a page",
    "429 with a page",
    "500 with nothing",
    "502 with a page",
    "503 with a page",
    "504 with a page",
    "no answer",
  ])
    expect(Object.keys(answers)).toEqual(expect.arrayContaining([`${status}, instead`, `${status}, done`]))
  expect(Object.keys(answers)).toEqual(
    expect.arrayContaining(["cut off", "twice", "without a length", "with another ETag", "the request later"]),
  )
})
