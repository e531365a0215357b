"""A language model asked for a text, through litellm: any provider, or any server of one's own."""

import os
from collections.abc import Callable

from karat.errors import EngineError, MissingExtra

__all__ = ["Complete", "completer"]

# Returns the answer of a model to an instruction and a text; EngineError where there is none.
Complete = Callable[[str, str], str]


def completer(
    model: str, *, api_base: str | None = None, timeout_s: float = 60.0, retries: int = 2
) -> Complete:
    """Return what asks *model*, named as litellm does (``openai/gpt-4o-mini``, ``ollama/llama3``).

    Keys come from the environment, as litellm reads them. *api_base* is the address of a server
    that speaks OpenAI's format.
    """
    # litellm else asks the network for a list of prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
        import openai
    except ImportError as error:
        raise MissingExtra("litellm", extra="llm", purpose="rewriting queries") from error

    # It prints advice to standard output beside every error.
    litellm.suppress_debug_info = True

    def complete(instruction: str, text: str) -> str:
        messages = [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ]
        try:
            answer = litellm.completion(
                model=model,
                messages=messages,
                temperature=0,
                timeout=timeout_s,
                max_retries=retries,
                api_base=api_base,
            )
        except openai.OpenAIError as error:  # every error of litellm is one
            said = str(error).partition("\n")[0]
            raise EngineError(f"{model}: {type(error).__name__}: {said}") from error
        content = answer.choices[0].message.content
        if not isinstance(content, str) or not content.strip():
            raise EngineError(f"{model}: the answer is empty; expected a question")
        return content

    return complete
