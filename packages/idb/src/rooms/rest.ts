export * as blobs from "../documents/blobs.ts"
export { foldLog } from "../log/compact-rows.ts"
export { replace } from "../log/replace.ts"
