import { expect, test } from "vitest"
import { missingPeers } from "./installed.ts"

const s3 = { peerDependencies: { sdk: "1", other: "1" }, peerDependenciesMeta: { other: { optional: true } } }

test("a peer that npm has added by itself is missing, also of a dependency; an optional one is not", () => {
  const packages = {
    "node_modules/@sessions/bridge": { dependencies: { "@sessions/s3": "1" } },
    "node_modules/@sessions/s3": s3,
    "node_modules/sdk": {},
  }
  expect(missingPeers(packages, ["@sessions/s3", "sdk"])).toEqual([])
  for (const name of ["@sessions/s3", "@sessions/bridge"])
    expect(missingPeers(packages, [name])).toEqual(["@sessions/s3 needs sdk, which the line does not name"])
})

test("a peer that a named package brings is there", () => {
  const packages = { "node_modules/@sessions/s3": s3, "node_modules/graph": { dependencies: { sdk: "1" } } }
  expect(missingPeers({ ...packages, "node_modules/sdk": {} }, ["@sessions/s3", "graph"])).toEqual([])
  // One that is inside of the other package is not found from here.
  expect(missingPeers({ ...packages, "node_modules/graph/node_modules/sdk": {} }, ["@sessions/s3", "graph"])).toEqual([
    "@sessions/s3 needs sdk, which the line does not name",
  ])
})
