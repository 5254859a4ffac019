import { defineConfig } from "vite";

// One module, styles and all: TensorBoard imports it, and `report --html` puts it into the page it writes.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    lib: { entry: "src/main.tsx", formats: ["es"], fileName: () => "index.js" },
    rolldownOptions: {
      output: { banner: "/* rlscope_jax, Apache-2.0. Holds Preact, MIT, (c) 2015-present Jason Miller. */" },
    },
  },
});
