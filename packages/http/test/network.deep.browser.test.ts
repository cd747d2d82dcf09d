/** Whatever answers a page in place of the handler or after it: what the calls of its storage are told is true. */
import { register, type Subject } from "@sessions/conformance"
import { answerNames, createNetwork, registerSchedules } from "@sessions/conformance/network"
import { connectHttpStorage } from "@sessions/http/client"
import { inject, test } from "vitest"

const url = inject("httpStorage")
/** Milliseconds. Requests without an answer are many; the others take some, in Firefox on a busy machine more than 500. */
const TIMEOUT = 3_000

const inPage: Subject<string> = {
  name: "http in a page",
  makeLocation: () => crypto.randomUUID(),
  open: (token) => connectHttpStorage({ url, headers: { authorization: token } }),
  network: {
    names: answerNames,
    async open(token, meet) {
      let isReady = false
      const { fetch, arrive } = createNetwork(
        (address, init) => globalThis.fetch(address, init),
        (request) => (isReady ? meet(request) : undefined),
      )
      const storage = await connectHttpStorage({
        url,
        headers: { authorization: token },
        timeout: TIMEOUT,
        fetch,
      })
      isReady = true
      return { storage, arrive }
    },
  },
}

register(test, inPage, { only: ["network"], sizes: { race: 4 } })
registerSchedules(test, inPage, { runs: 100, parallel: 10 })
