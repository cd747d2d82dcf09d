/**
 * What may answer a request in place of the right server, or after it: a proxy, a gateway, a sign-in page, a line that breaks. Each answer is a
 * function, so it serves a `fetch` (`network.ts`) and a proxy on loopback (`../proxy`).
 */

/** The way of one request. */
export interface Way {
  /** Passes the request on, whether the client is still there or not. */
  readonly send: () => Promise<Response>
  /** No answer comes while the client waits. */
  readonly never: () => Promise<never>
  /** The request arrives when the client does not wait for it any more. */
  readonly arriveLater: () => void
}

export type Answer = (way: Way) => Response | Promise<Response>

const HTML = "<!doctype html><html><title>Sign in</title></html>"
const page =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  () =>
    new Response(HTML, { status, headers: { "content-type": "text/html", server: "proxy/1", ...headers } })
const nothing =
  (status: number): Answer =>
  () =>
    new Response(status === 204 ? null : "", { status })

/** Answers that do not need the right one. */
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
  "no answer": ({ never }) => never(),
}

/** What may become of the right answer, and of the request. */
const CHANGED: Readonly<Record<string, Answer>> = {
  "cut off": async ({ send }) => {
    const { bytes, answer } = await whole(send)
    return answer(bytes.subarray(0, bytes.length / 2))
  },
  "cut off within its body": async ({ send }) => {
    const { bytes, answer } = await whole(send)
    const pieces = [bytes.subarray(0, bytes.length / 2)]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.pop()
        if (piece === undefined) controller.error(new TypeError("terminated"))
        else controller.enqueue(piece)
      },
    })
    return answer(bytes.length === 0 ? bytes : body)
  },
  twice: async ({ send }) => {
    const { bytes, answer } = await whole(send)
    return answer(new Uint8Array([...bytes, ...bytes]))
  },
  "without a length": async ({ send }) => {
    const { bytes, answer } = await whole(send)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    return answer(bytes.length === 0 ? bytes : body)
  },
  "with another ETag": async ({ send }) => {
    const { bytes, answer } = await whole(send)
    return answer(bytes, { etag: '"another"' })
  },
  "the request sent twice": async ({ send }) => {
    await send()
    return send()
  },
  "the request again later": async ({ send, arriveLater }) => {
    const answer = await send()
    arriveLater()
    return answer
  },
  "the request later": ({ never, arriveLater }) => {
    arriveLater()
    return never()
  },
}

interface Whole {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The answer with another body, or with another value of a header that it has. */
  readonly answer: (body: BodyInit, changed?: Readonly<Record<string, string>>) => Response
}

async function whole(send: Way["send"]): Promise<Whole> {
  const right = await send()
  const { status } = right
  const bytes = new Uint8Array(await right.arrayBuffer())
  return {
    bytes,
    answer(body, changed = {}) {
      const headers = new Headers(right.headers)
      // Of an answer to HEAD the length is that of the object.
      if (bytes.length > 0) headers.delete("content-length")
      for (const [name, value] of Object.entries(changed)) if (headers.has(name)) headers.set(name, value)
      return new Response(BODILESS.has(status) ? null : body, { status, headers })
    },
  }
}

/** A `Response` with these must not have a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/** Everything that may happen to a request, by name: in its place, or after it was done. */
export const answers: Readonly<Record<string, Answer>> = {
  ...CHANGED,
  ...Object.fromEntries(
    Object.entries(ALONE).flatMap(([name, answer]): [string, Answer][] => [
      [`${name}, instead`, answer],
      [
        `${name}, done`,
        async (way) => {
          await ended(await way.send())
          return answer(way)
        },
      ],
    ]),
  ),
}

/** A stream of events has no end. */
async function ended(right: Response): Promise<void> {
  const isStream = right.headers.get("content-type")?.startsWith("text/event-stream") === true
  await (isStream ? right.body?.cancel() : right.arrayBuffer())
}

/** The names of {@link answers}. */
export const answerNames: readonly string[] = Object.keys(answers)
