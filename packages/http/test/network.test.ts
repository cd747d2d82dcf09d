/** Whatever answers a storage client in place of the handler or after it: what its calls are told is true. */
import { register } from "@sessions/conformance"
import { answerNames, createNetwork, registerSchedules } from "@sessions/conformance/network"
import { expect, test } from "vitest"
import { connectHttpStorage } from "../src/client.ts"
import { onNetwork } from "./network.ts"
import { URL_OF_STORAGE, wire } from "./wire.ts"

register(test, onNetwork, { only: ["network"] })
registerSchedules(test, onNetwork, { runs: 12 })

test("connecting finds the capabilities of the handler, or ends with `unavailable` or `quota`", async () => {
  const { handler, storage } = await wire()
  for (const name of answerNames) {
    const { fetch } = createNetwork(
      (url, init) => handler(new Request(url, init)),
      () => name,
    )
    const connecting = connectHttpStorage({ url: URL_OF_STORAGE, fetch, timeout: 40 })
    const found = await connecting.then(
      ({ capabilities }) => capabilities,
      ({ code }: { readonly code: string }) => code,
    )
    const allowed = typeof found === "string" ? ["unavailable", "quota"] : [storage.capabilities]
    expect([name, allowed]).toEqual([name, expect.arrayContaining([found])])
  }
})
