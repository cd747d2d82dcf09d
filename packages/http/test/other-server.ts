/**
 * A server on the way that answers in place of the right one, or after it: a proxy, a gateway, a sign-in page, a line that breaks. It stands
 * in a `fetch`, so it serves every client that takes one.
 */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What it makes of a request. `send` passes it on; `never` is an answer that does not come while the client waits. */
type Answer = (send: () => Promise<Response>, never: () => Promise<never>) => Response | Promise<Response>

const HTML = "<!doctype html><html><title>Sign in</title></html>"
const page =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  () =>
    new Response(HTML, { status, headers: { "content-type": "text/html", server: "proxy/1", ...headers } })
const nothing =
  (status: number): Answer =>
  () =>
    new Response(status === 204 ? null : "", { status })

/** Answers that do not need the right one, by name. */
const ALONE: Readonly<Record<string, Answer>> = {
  "200 with a page": page(200),
  "200 with nothing": nothing(200),
  "200 with other JSON": () => Response.json({ status: "ok" }),
  "200 with null": () => Response.json(null),
  "204": nothing(204),
  "400 with a page": page(400),
  "401 with a page": page(401),
  "403 with a page": page(403),
  "404 with a page": page(404),
  "404 with other JSON": () => Response.json({ error: "no route" }, { status: 404 }),
  "409 with a page": page(409),
  "413 with a page": page(413),
  "429 with a page": page(429, { "retry-after": "0" }),
  "500 with nothing": nothing(500),
  "502 with a page": page(502),
  "503 with a page": page(503, { "retry-after": "0" }),
  "504 with a page": page(504),
  "507 with a page": page(507),
  "a connection that breaks": () => Promise.reject(new TypeError("fetch failed")),
  "no answer": (_, never) => never(),
}

/** What it may make of the right answer. */
const CHANGED: Readonly<Record<string, Answer>> = {
  "cut off": async (send) => {
    const { own, bytes } = await whole(send)
    return new Response(bytes.subarray(0, bytes.length / 2), own)
  },
  "cut off within its body": async (send) => {
    const { own, bytes } = await whole(send)
    const pieces = [bytes.subarray(0, bytes.length / 2)]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.pop()
        if (piece === undefined) controller.error(new TypeError("terminated"))
        else controller.enqueue(piece)
      },
    })
    return new Response(body, own)
  },
  twice: async (send) => {
    const { own, bytes } = await whole(send)
    return new Response(new Uint8Array([...bytes, ...bytes]), own)
  },
  "the request sent twice": async (send) => {
    await send()
    return send()
  },
  "without a length": async (send) => {
    const { own, bytes } = await whole(send)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    return new Response(body, own)
  },
}

async function whole(send: () => Promise<Response>): Promise<{ own: ResponseInit; bytes: Uint8Array<ArrayBuffer> }> {
  const { status, headers, ...answer } = await send().then(async (one) => ({
    status: one.status,
    headers: one.headers,
    bytes: new Uint8Array(await one.arrayBuffer()),
  }))
  headers.delete("content-length")
  return { own: { status, headers }, bytes: answer.bytes }
}

/** Everything that may happen to a request, by name: in its place, or after it was done. */
export const OTHER_ANSWERS: Readonly<Record<string, Answer>> = {
  ...CHANGED,
  ...Object.fromEntries(
    Object.entries(ALONE).flatMap(([name, answer]): [string, Answer][] => [
      [`${name}, instead`, answer],
      [
        `${name}, done`,
        async (send, never) => {
          await (await send()).arrayBuffer()
          return answer(send, never)
        },
      ],
    ]),
  ),
}

/** A `fetch` by which each request meets what `choose` returns for it: a name of {@link OTHER_ANSWERS}; undefined: nothing. */
export function behindOther(fetch: Fetch, choose: (method: string, url: string) => string | undefined): Fetch {
  return async (url, init) => {
    const name = choose(init.method ?? "GET", url)
    const answer = name === undefined ? undefined : OTHER_ANSWERS[name]
    if (answer === undefined) return fetch(url, init)
    const never = (): Promise<never> =>
      new Promise((_, reject) => {
        const fail = (): void => reject(init.signal?.reason as Error)
        if (init.signal?.aborted === true) fail()
        init.signal?.addEventListener("abort", fail)
      })
    // The request goes on when the client has gone.
    const { signal: _, ...rest } = init
    return answer(() => fetch(url, rest), never)
  }
}
