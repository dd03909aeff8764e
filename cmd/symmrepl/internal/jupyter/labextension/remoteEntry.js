// JupyterLab highlights all cells of a notebook as one language, which the kernel names. This
// extension highlights those that begin with %%cuda as C++.
//
// It is written as a container of module federation, as JupyterLab loads extensions: init gets the
// modules that JupyterLab shares, and get returns a module of the extension. So it needs no build.
"use strict"
{
    let shared

    // load returns a module that JupyterLab shares.
    const load = async name => {
        const versions = Object.values(shared[name])
        return (await versions[0].get())()
    }

    const CUDA = "text/x-c++src"
    const isCUDA = text => /^\s*%%cuda(\s|$)/.test(text)

    // follow keeps the language of a cell right: it changes with the text, and JupyterLab sets it when
    // the kernel has said its language.
    const follow = (cell, notebook) => {
        const set = () => {
            const cuda = isCUDA(cell.sharedModel.getSource())
            if (cuda !== (cell.mimeType === CUDA))
                cell.mimeType = cuda ? CUDA : notebook.codeMimetype
        }
        cell.contentChanged.connect(set)
        cell.mimeTypeChanged.connect(set)
        set()
    }

    const activate = (app, tracker) => {
        const followed = new WeakSet()
        const add = notebook => {
            for (const cell of notebook.model?.cells ?? [])
                if (cell.type === "code" && !followed.has(cell)) {
                    followed.add(cell)
                    follow(cell, notebook)
                }
        }
        const open = panel => {
            const notebook = panel.content
            const begin = () => {
                notebook.model?.cells.changed.connect(() => add(notebook))
                add(notebook)
            }
            notebook.modelChanged.connect(begin)
            begin()
        }
        tracker.forEach(open)
        tracker.widgetAdded.connect((_, panel) => open(panel))
    }

    const extension = async () => {
        const { INotebookTracker } = await load("@jupyterlab/notebook")
        return { id: "symmrepl:cuda", description: "Highlights cells that begin with %%cuda.", autoStart: true, requires: [INotebookTracker], activate }
    }

    window._JUPYTERLAB = window._JUPYTERLAB || {}
    window._JUPYTERLAB["symmrepl"] = {
        init: scope => { shared = scope },
        get: async () => {
            const plugin = await extension()
            return () => plugin
        },
    }
}
