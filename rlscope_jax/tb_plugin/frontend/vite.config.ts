import { defineConfig } from "vite";

// One module, styles and all: TensorBoard imports it, and `report --html` puts it into the page it writes.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // ECharts asks for it; a browser has none, and Vite leaves it in what it takes for a library.
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    reportCompressedSize: false,
    lib: { entry: "src/main.tsx", formats: ["es"], fileName: () => "index.js" },
    rolldownOptions: {
      output: {
        minify: true,
        postBanner:
          "/*! rlscope_jax, Apache-2.0. Holds Preact, MIT, (c) 2015-present Jason Miller; Apache ECharts, Apache-2.0, " +
          "(c) 2017-present The Apache Software Foundation; ZRender, BSD-3-Clause, (c) 2017 Baidu Inc. */",
      },
    },
  },
});
