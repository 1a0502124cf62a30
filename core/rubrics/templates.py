"""What a judge is told where a rubric brings no templates of its own, and the names a template may use."""

VARIABLES = (
    "title",
    "language",
    "instructions",
    "guidelines",
    "unit",
    "questions",
    "fields",
    "dialogue",
    "turns",
    "reply_form",
    "examples",
)
OF_PAIRS = ("first", "second")
"""What the templates of a pairwise question may use beside these."""

SYSTEM = """\
You read a conversation between a user and an assistant and answer questions about it. You owe nothing to \
anybody in it. Rate what the assistant says, never the user.
{%- if instructions %}

{{ instructions | trim }}
{%- endif %}
{%- if guidelines %}

The guidelines that people who answer the same questions are given:
=====
{{ guidelines | trim }}
=====
{%- endif %}

The questions:
{%- for question in questions %}

{{ question.name }}: {{ question.statement | trim }}
{%- for answer in question.answers %}
  {{ answer.value }}{% if answer.label %} = {{ answer.label }}{% endif %}
{%- endfor %}
{%- if not question.required %}
  null = it cannot be answered
{%- endif %}
{%- endfor %}

Length is no merit. Take the whole range of answers seriously. Reply with one JSON object and with nothing \
before or after it, in this form:
{{ reply_form }}
"""

EXAMPLES = """

{%- if examples %}

What people answered about other conversations:
{%- for example in examples %}

=====
{{ example.text | trim }}
=====
People answered: {{ example.answers | trim }}
{%- endfor %}
{%- endif %}
"""
"""What the judge lab adds to a system message that shows examples."""

FIELDS = """\
{%- for field in fields %}
{{ field.heading }}:
=====
{{ field.text | trim }}
=====

{% endfor -%}
"""

USER = (
    FIELDS
    + """\
The conversation:
{%- for message in dialogue %}

Turn {{ message.turn }}, {{ message.role }}{% if message.rated and unit != "conversation" %} (to be rated)\
{% endif %}: {{ message.text | trim }}
{%- endfor %}

End of the conversation.

{% if unit == "conversation" -%}
Answer the questions about the conversation as a whole.
{%- elif unit == "each-reply" -%}
Answer the questions about each reply of the assistant by itself, knowing what was said before: “ratings” \
has {{ turns | length }} {% if turns | length == 1 %}entry{% else %}entries{% endif %}, for the turns \
{{ turns | join(", ") }}.
{%- else -%}
Answer the questions about the reply in turn {{ turns[0] }} alone, knowing what was said before.
{%- endif %} Reply with the JSON object.
"""
)

PAIR_SYSTEM = """\
You compare two {{ "replies of an assistant to the same conversation" if unit == "last-reply" else \
"conversations between a user and an assistant" }}, A and B, and say which is better. You owe nothing to \
anybody in them.
{%- if instructions %}

{{ instructions | trim }}
{%- endif %}
{%- if guidelines %}

The guidelines that people who answer the same questions are given:
=====
{{ guidelines | trim }}
=====
{%- endif %}

The question:
{%- for question in questions %}

{{ question.name }}: {{ question.statement | trim }}
{%- for answer in question.answers %}
  {{ answer.value }} = {{ answer.label }}
{%- endfor %}
{%- endfor %}

Length is no merit, nor is being shown first. Reply with one JSON object and with nothing before or after \
it, in this form:
{{ reply_form }}
"""

PAIR_USER = (
    FIELDS
    + """\
{%- if dialogue %}The conversation so far:
{%- for message in dialogue %}

Turn {{ message.turn }}, {{ message.role }}: {{ message.text | trim }}
{%- endfor %}

End of the conversation so far.

{% endif -%}
{%- for name, side in [("A", first), ("B", second)] -%}
{{ "Reply" if unit == "last-reply" else "Conversation" }} {{ name }}:
{%- for message in side %}

{% if unit != "last-reply" %}Turn {{ message.turn }}, {{ message.role }}: {% endif %}\
{{ message.text | trim }}
{%- endfor %}

End of {{ "reply" if unit == "last-reply" else "conversation" }} {{ name }}.

{% endfor -%}
Compare A and B. Reply with the JSON object.
"""
)
