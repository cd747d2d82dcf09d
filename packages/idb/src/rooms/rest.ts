export * as blobs from "../blobs.ts"
export { foldLog } from "../fold.ts"
export { replace } from "../replace.ts"
